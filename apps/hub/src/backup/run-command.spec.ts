import { afterEach, expect, it, vi } from 'vitest';
import { runCommand } from './run-command.js';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

it('warns about a line break at the end of a secret that a backup uses', async () => {
  const printed: string[] = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  vi.spyOn(process, 'argv', 'get').mockReturnValue(['node', 'backup', '/backups/fleet.tar.gz']);
  vi.stubEnv('FLOTILLA_BACKUP_PASSPHRASE', 'correct horse battery staple\n');
  const run = vi.fn(async () => ({}));
  await runCommand({ usage: 'backup FILE', flags: [], run });
  expect(run).toHaveBeenCalledOnce();
  expect(printed.join('')).toMatch(/^FLOTILLA_BACKUP_PASSPHRASE ends with a line break/);
});
