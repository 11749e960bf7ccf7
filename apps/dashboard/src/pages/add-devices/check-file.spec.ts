import { describe, expect, it } from 'vitest';
import { type AskHub, checkFile, devicesMax, FileChecks } from './check-file';

/** A hub that knows the devices `known…`. */
const hub: AskHub = (batch) =>
  Promise.resolve(
    batch.flatMap(({ device }, index) =>
      device.deviceId.startsWith('known')
        ? [{ message: 'It is registered already.', path: ['input', String(index), 'deviceId'] }]
        : [],
    ),
  );

describe('the check of a file of devices', () => {
  it('names each wrong line by its number, also those that only the hub finds', async () => {
    const source = 'deviceId,transport\na,\nknown-1,\n,\nb,fax\nA,\nknown-2,mqtt\n';
    expect(await checkFile(source, hub)).toMatchObject({
      kind: 'checked',
      problems: [
        { line: 3, message: 'It is registered already.' },
        { line: 4, code: 'idMissing' },
        { line: 5, code: 'transport', value: 'fax' },
        { line: 6, code: 'repeated', value: '2' },
        { line: 7, message: 'It is registered already.' },
      ],
    });
  });

  it('asks the hub in parts, and counts lines over all of them', async () => {
    const ids = Array.from({ length: 2_001 }, (_, index) => (index === 1_500 ? 'known' : `d${index}`));
    const sizes: number[] = [];
    const checked = await checkFile(['deviceId', ...ids].join('\n'), (batch) => {
      sizes.push(batch.length);
      return hub(batch);
    });
    expect(sizes).toEqual([1_000, 1_000, 1]);
    expect(checked).toMatchObject({ problems: [{ line: 1_502 }] });
  });

  it('says that a file is no list of devices, or is too long', async () => {
    expect(await checkFile('name\nLobby\n', hub)).toMatchObject({ kind: 'unreadable' });
    const ids = Array.from({ length: devicesMax + 1 }, (_, index) => `d${index}`);
    expect(await checkFile(['deviceId', ...ids].join('\n'), hub)).toEqual({ kind: 'tooLong', count: devicesMax + 1 });
  });
});

describe('the checks of files', () => {
  /** Answers when it is allowed to. */
  const slowly = () => {
    let answer: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const ask: AskHub = () => answered.then(() => []);
    return { ask, answer };
  };

  it('drop an answer about a file that was chosen before', async () => {
    const [checks, slow] = [new FileChecks(), slowly()];
    const first = checks.check(Promise.resolve('deviceId\na\n'), slow.ask);
    const second = await checks.check(Promise.resolve('deviceId\nb\n'), hub);
    slow.answer();
    expect(second).toMatchObject({ lines: [{ device: { deviceId: 'b' } }] });
    expect(await first).toBeUndefined();
  });

  it('drop an answer, and a failure, after the file was removed', async () => {
    const [checks, slow] = [new FileChecks(), slowly()];
    const removed = checks.check(Promise.resolve('deviceId\na\n'), slow.ask);
    const unread = checks.check(Promise.reject(new Error('The file cannot be read.')), slow.ask);
    checks.drop();
    slow.answer();
    expect(await Promise.all([removed, unread])).toEqual([undefined, undefined]);
  });
});
