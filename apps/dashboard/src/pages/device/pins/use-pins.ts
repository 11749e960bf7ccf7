/** The live values of the pins of a device, and the calls that change them. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useClient, useSubscription } from 'urql';
import { useScope } from '../../../hub/hub';
import type { MutationFailure } from '../../../hub/mutation-failure';
import { useHubMutation } from '../../../hub/use-hub-mutation';
import { useVisibleInterval } from '../../../hub/use-visible-interval';
import { EventsAsTheyHappenDocument } from '../../events/generated/events';
import type { DeviceSeen } from '../device-page';
import { callFailures } from '../call-failures';
import { CallToolDocument } from '../generated/device';
import { answeredAt, answeredValue, kindOf, type PinValues, readToolOf, sampledValue, withValue } from './pin-values';

/** Ms between two reads of all pins while they are followed; each read is a recorded call. */
const followMs = 5_000;

export interface LivePins {
  readonly values: PinValues;
  readonly failure: MutationFailure | undefined;
  readonly isBusy: boolean;
  readonly isFollowing: boolean;
  readonly follow: (isFollowing: boolean) => void;
  readonly readAll: () => Promise<void>;
  readonly write: (tool: 'gpio_write' | 'pwm_write', pin: number, value: boolean | number) => Promise<void>;
}

export function usePins(device: DeviceSeen): LivePins {
  const { id, pins, presence, connectedAt } = device;
  const mayCall = useScope('TOOLS_CALL');
  const client = useClient();
  const [values, setValues] = useState<PinValues>({});
  const [isFollowing, follow] = useState(false);
  const [isReading, setReading] = useState(false);
  const act = useHubMutation(CallToolDocument, callFailures);
  useSamples(id, setValues);

  const reading = useRef(false);
  const readAll = useCallback(async () => {
    if (reading.current) return;
    reading.current = true;
    setReading(true);
    // One by one, because a board takes one request at a time.
    for (const { pin, type } of pins) {
      const tool = readToolOf(kindOf(type));
      if (tool === undefined) continue;
      const input = { deviceId: id, tool, arguments: { pin } };
      const { data } = await client.mutation(CallToolDocument, { input }).toPromise();
      const call = data?.callTool.call;
      // Without an answer the others would fail, too.
      if (call?.outcome !== 'SUCCEEDED' && call?.error?.code !== 'DEVICE_ERROR') break;
      setValues((known) => withValue(known, pin, answeredValue(call.result?.json, answeredAt(call))));
    }
    reading.current = false;
    setReading(false);
  }, [client, id, pins]);

  const write = async (tool: 'gpio_write' | 'pwm_write', pin: number, value: boolean | number): Promise<void> => {
    const given = tool === 'gpio_write' ? { pin, value } : { pin, duty: value };
    const data = await act.run({ input: { deviceId: id, tool, arguments: given } });
    const call = data?.callTool.call;
    if (call?.outcome !== 'SUCCEEDED') return;
    setValues((known) => withValue(known, pin, { value, at: answeredAt(call) }));
  };

  // A new connection resets the outputs. [mcpu §0]
  const isReadable = mayCall && presence === 'ONLINE';
  useEffect(() => {
    setValues({});
    if (isReadable) void readAll();
    // `pins` is a new list after each look at the device.
  }, [isReadable, connectedAt]); // eslint-disable-line react-hooks/exhaustive-deps
  useVisibleInterval(readAll, isFollowing && isReadable ? followMs : undefined);
  return { values, failure: act.failure, isBusy: act.isBusy || isReading, isFollowing, follow, readAll, write };
}

function useSamples(deviceId: string, change: (next: (known: PinValues) => PinValues) => void): void {
  const variables = useMemo(() => ({ filter: { deviceId, types: ['device.samples'] } }), [deviceId]);
  const mayRead = useScope('EVENTS_READ');
  useSubscription({ query: EventsAsTheyHappenDocument, variables, pause: !mayRead }, (_seen, { eventAdded }) => {
    const { at, data } = eventAdded.node;
    const sampled = sampledValue(data, at);
    if (sampled) change((known) => withValue(known, sampled.pin, sampled.value));
    return { eventAdded };
  });
}
