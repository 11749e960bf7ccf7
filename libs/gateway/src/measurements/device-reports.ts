/** Turns what devices answer into reports for the recorder. */
import { isJsonObject, parseJsonText } from '@flotilla/mcp';
import type { DeviceId, JsonObject, ToolResult } from '@flotilla/mcp';
import { numberOf, numbersIn, samplePath } from '@flotilla/signals';
import type { ReportedNumber } from '@flotilla/signals';
import type { MeasurementRecorder } from './measurement-recorder.js';

/** Bytes of an answer that is read for numbers. */
const answerBytesMax = 64 * 1024;
/** The age of samples that are recorded, ms: older ones are in days that are packed or removed. */
const sampleAgeMsMax = 7 * 86_400_000;
type Recorder = Pick<MeasurementRecorder, 'take' | 'wants'>;

/** The answer of a tool to any caller. Only tools that a rule names are parsed. */
export function reportAnswer(
  recorder: Recorder,
  deviceId: DeviceId,
  { tool, result, at }: { readonly tool: string; readonly result: ToolResult | undefined; readonly at: number },
): void {
  if (result?.isError !== false || !recorder.wants(tool)) return;
  const text = result.content.find(({ type }) => type === 'text')?.['text'];
  if (typeof text !== 'string' || Buffer.byteLength(text) > answerBytesMax) return;
  recorder.take({ deviceId, at, numbers: numbersIn(tool, parseJsonText(text)) });
}

/**
 * The samples of one event: values of a ring or series with their times, the newest at `at`, or a
 * single value. Skips samples that are too old. A value that is an object has one path per number.
 */
export function reportSamples(recorder: Recorder, deviceId: DeviceId, data: JsonObject, at: number): void {
  const { values, intervalMs, name, resource, tool, value } = data;
  if (Array.isArray(values)) {
    const path = samplePath([name, resource, tool].find((one) => typeof one === 'string') ?? '');
    const step = typeof intervalMs === 'number' ? intervalMs : 0;
    values.forEach((entry: unknown, index) => {
      const number = numberOf(path, entry);
      const sampledAt = Math.round(at - (values.length - 1 - index) * step);
      if (number !== undefined && sampledAt >= at - sampleAgeMsMax)
        recorder.take({ deviceId, at: sampledAt, numbers: [{ path, value: number }] });
    });
    return;
  }
  if (typeof tool !== 'string' || value === undefined) return;
  recorder.take({ deviceId, at, numbers: singleValues(tool, value) });
}

function singleValues(tool: string, value: unknown): readonly ReportedNumber[] {
  const path = samplePath(tool);
  if (isJsonObject(value))
    return numbersIn('samples', value).map((one) => ({
      ...one,
      path: `${path}.${one.path.slice('samples:'.length)}`,
    }));
  const number = numberOf(path, value);
  return number === undefined ? [] : [{ path, value: number }];
}
