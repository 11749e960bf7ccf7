import { Readable } from 'node:stream';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { readSecret } from './console/secret.js';
import { jsonLines, jsonObject, readStandardInput } from './json-input.js';
import { runCommand } from './run-command.suite.js';
import { startSchemaHub } from './schema-hub.suite.js';

afterEach(() => vi.restoreAllMocks());

function given(text: string): void {
  const stdin = Readable.from([Buffer.from(text)]) as unknown as typeof process.stdin;
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(stdin);
}

describe('a dash', () => {
  it('is a text like any other where no file and no JSON is read', async () => {
    const sent: unknown[] = [];
    const record = (args: unknown) => void sent.push(args);
    const hub = await startSchemaHub({ 'Mutation.updateDevice': record, 'Mutation.createApiKey': record });
    onTestFinished(() => hub.close());
    await runCommand(hub, ['devices', 'edit', '02:00', '--name', '-', '--tag', '-']);
    await runCommand(hub, ['keys', 'create', '-', '--scope', 'DEVICES_READ']);
    expect(sent).toMatchObject([{ input: { name: '-', tags: ['-'] } }, { input: { name: '-' } }]);
  });

  it('is standard input for arguments of tools', async () => {
    const sent: unknown[] = [];
    const hub = await startSchemaHub({ 'Mutation.callTool': (args) => void sent.push(args) });
    onTestFinished(() => hub.close());
    given('{"volume":30}');
    await runCommand(hub, ['call', '02:00', 'self.audio_speaker.set_volume', '-']);
    expect(sent).toMatchObject([{ input: { arguments: { volume: 30 } } }]);
  });

  it.each([
    ['--secrets-to', ['apply', 'fleet.yaml']],
    ['--new-key', ['firmware', 'sign']],
  ])('is no file that %s writes', async (option, words) => {
    const hub = await startSchemaHub({});
    onTestFinished(() => hub.close());
    const { problem } = await runCommand(hub, [...words, option, '-']);
    expect(problem).toContain(`UsageError: ${option} writes a file.`);
  });
});

describe('standard input', () => {
  it('of a file that an editor of Windows wrote has the same JSON and the same secret', async () => {
    given('\ufeff{"volume":30}\r\n');
    expect(jsonObject(await readStandardInput(100), 'Standard input')).toEqual({ volume: 30 });
    given('\ufeffcorrect horse battery\r\n');
    expect(await readSecret('')).toBe('correct horse battery');
  });

  it('is limited', async () => {
    given('12345');
    await expect(readStandardInput(4)).rejects.toThrow('Standard input has more than 4 bytes.');
  });
});

describe('JSON Lines', () => {
  it('end at a line feed only, wherever their parts begin', async () => {
    const texts = ['a\u2028b\u2029c', 'ä €'];
    const bytes = Buffer.from(texts.map((text) => `${JSON.stringify({ text })}\r\n`).join('\n'));
    async function* parts(size: number) {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    }
    for (const size of [1, 7, bytes.length]) {
      const read: object[] = [];
      for await (const line of jsonLines(parts(size))) read.push(line);
      expect(read).toEqual(texts.map((text) => ({ text })));
    }
  });
});
