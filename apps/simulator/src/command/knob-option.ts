/** The option `--knob`: which knob people turn, how often or when, and to which value. */
import { InvalidArgumentError } from 'commander';
import { behaviourSchema, isLasting, type LastingBehaviour } from '@flotilla/simulated-device';

const FORM = /^(?<knob>[a-z]+)(?::(?<rate>[\d.]+)|@(?<time>\d\d:\d\d))(?:=(?<value>\d{1,3}))?$/;
const EXAMPLES = 'such as volume:6 (6 times an hour) or brightness@22:00=80 (each day at 22:00 UTC, to 80)';

/** Reads one value of the option and adds it to the former ones. */
export function addKnob(text: string, former: readonly LastingBehaviour[] = []): readonly LastingBehaviour[] {
  const { knob, rate, time, value } = FORM.exec(text)?.groups ?? {};
  if (knob === undefined) throw new InvalidArgumentError(`Expected a knob with its turns, ${EXAMPLES}.`);
  const parsed = behaviourSchema.safeParse({
    kind: 'knob',
    knob,
    ...(rate === undefined ? { at: [time] } : { perHour: Number(rate) }),
    ...(value !== undefined && { value: Number(value) }),
  });
  if (!parsed.success || !isLasting(parsed.data))
    throw new InvalidArgumentError(
      'Expected volume or brightness, 0.1 to 3600 turns an hour or a time of the day, and a value from 0 to 100.',
    );
  return [...former, parsed.data];
}
