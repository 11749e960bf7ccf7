/** Options of a job become the input of `createJob`. */
import { describe, expect, it } from 'vitest';
import { jobInput } from './job-options.js';

const what = { tool: 'self.reboot' };

describe('the input of a job', () => {
  it('has the devices, the pace and the expiry', () => {
    const args = { all: true, name: 'Night', 'per-minute': 60, 'expires-in': 5_400 };
    expect(jobInput(args, what)).toEqual({
      ...what,
      devices: { all: true },
      name: 'Night',
      perMinute: 60,
      expiresInSeconds: 5_400,
    });
  });

  it('has one wave per percentage', () => {
    expect(jobInput({ all: true, waves: '5,25,100' }, what).waves).toMatchObject([
      { percent: 5 },
      { percent: 25 },
      { percent: 100 },
    ]);
  });

  it('takes other fields from --input', () => {
    expect(jobInput({ all: true, input: '{"maxAttempts":3}' }, what)).toMatchObject({ maxAttempts: 3 });
  });

  it.each([
    [{ all: true, waves: '25,5' }, '--waves must be rising percentages'],
    [{ all: true, waves: '5,101' }, '--waves must be rising percentages'],
    [{ all: true, soak: 60 }, 'Add --waves.'],
    [{ all: true, input: '{' }, '--input: expected JSON'],
    [{ all: true, input: '[]' }, '--input: expected a JSON object.'],
    [{}, 'Select devices with'],
  ])('is rejected for %j', (args, message) => expect(() => jobInput(args, what)).toThrow(message));
});
