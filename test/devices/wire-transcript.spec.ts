/**
 * docs/wire.md and the simulated device agree: the hub lines of the transcript produce its device
 * lines.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { identityOf, profiles, SimulatedDevice, type DeviceEffect } from '@flotilla/simulated-device';

interface Line {
  readonly speaker: 'hub' | 'device';
  readonly text: string;
}

function readTranscript(): readonly Line[] {
  const page = readFileSync(new URL('../../docs/wire.md', import.meta.url), 'utf8');
  const block = /<!-- transcript:begin -->\s*```\n(.*?)\n```\s*<!-- transcript:end -->/s.exec(page)?.[1] ?? '';
  return block.split('\n').map((line) => {
    const [, speaker, text] = /^(hub|device) +(\{.*\})$/.exec(line) ?? [];
    if ((speaker !== 'hub' && speaker !== 'device') || text === undefined)
      throw new Error(`not a line of a transcript: ${line}`);
    return { speaker, text };
  });
}

/** A device without delays; its messages are in `said`. */
class TalkingDevice {
  readonly said: string[] = [];
  #now = 1_000_000;
  readonly #device: SimulatedDevice;

  constructor() {
    const profile = profiles.lamp;
    const identity = identityOf({ seed: 1, index: 1, board: profile.parts.board });
    this.#device = new SimulatedDevice({ identity, profile, transport: 'mqtt', random: () => 0.5 });
    this.#follow(this.#device.connected(this.#now));
  }

  hear(text: string): void {
    this.#follow(this.#device.receive(text, this.#now));
  }

  /** A person starts a conversation. */
  startConversation(): void {
    this.#follow(this.#device.behave({ kind: 'helloNow' }, this.#now));
  }

  /** Waits for the device's own work, but not for its timeouts of ten seconds. */
  #follow(effects: readonly DeviceEffect[]): void {
    for (const effect of effects) {
      if (effect.kind === 'send') this.said.push(effect.text);
      if (effect.kind === 'wakeAt' && effect.at < this.#now + 5_000) {
        this.#now = effect.at;
        this.#follow(this.#device.tick(effect.at));
      }
    }
  }
}

describe('the transcript in docs/wire.md', () => {
  it('is what the simulated device answers, to the byte', () => {
    const device = new TalkingDevice();
    for (const { speaker, text } of readTranscript()) {
      if (speaker === 'hub') {
        expect(device.said, `before the hub says ${text}`).toEqual([]);
        device.hear(text);
      } else {
        if (text.startsWith('{"type":"hello"')) device.startConversation();
        expect(device.said.shift()).toBe(text);
      }
    }
    expect(device.said).toEqual([]);
  });

  it('shows a bring-up, a call that succeeds, one that fails, and a conversation that is declined', () => {
    const lines = readTranscript();
    const contents = (speaker: Line['speaker']) =>
      lines.filter((line) => line.speaker === speaker).map((line) => line.text);
    for (const part of [
      '"initialize"',
      '"notifications/initialized"',
      '"withUserTools":true',
      '"tools/call"',
      '"udp":{',
      '"alert"',
      '"goodbye"',
    ])
      expect(contents('hub').join('\n')).toContain(part);
    expect(contents('device').join('\n')).toContain('"error":{"message":');
    expect(contents('device').some((text) => text.includes('"isError":false'))).toBe(true);
  });
});
