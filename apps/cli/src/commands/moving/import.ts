/** `flotilla import`: boards of another server. */
import { textOption } from '../../options/shared-options.js';
import { importServer } from '../../server-import/import-server.js';
import { group, hubLeaf } from '../command.js';

const xiaozhiServerCommand = hubLeaf({
  usage: 'xiaozhi-server [file]',
  summary: 'Register the boards of a MySQL dump of xiaozhi-esp32-server, and print them as JSON lines',
  examples: [
    'import xiaozhi-server dump.sql --dry-run',
    'import xiaozhi-server dump.sql --without-users --voice-url ws://old.example:8000/xiaozhi/v1/',
  ],
  notes:
    'Reads ai_device, ai_agent and sys_user: names, agents and users, but no passwords, provider keys or parameters. ' +
    'Boards get their alias as name and the tags agent:… and user:…. `flotilla moving` lists them; the import moves ' +
    'none. Run it again after a change: registered boards stay as they are. --voice-url also gives new boards the ' +
    'tag xiaozhi-server, and makes a group of this tag with the voice server. With --from it reads the boards of ' +
    'one account over the API.',
  options: (args) =>
    args
      .positional('file', { type: 'string', describe: 'The dump' })
      .option('from', textOption('Instead of a dump: the API, such as http://old.example:8002/xiaozhi'))
      .option('token-env', textOption('Environment variable with the token of an account there'))
      .option('time-zone', { ...textOption('Time zone of the times in the dump'), default: 'Asia/Shanghai' })
      .option('without-users', { type: 'boolean', describe: 'Leave out user names, which are often phone numbers' })
      .option('voice-url', textOption('The value of server.websocket there: imported boards talk to this server'))
      .option('dry-run', { type: 'boolean', describe: 'Check the dump and register nothing' }),
  run: (args, client) => importServer(client, args),
});

export const importCommand = group('import', 'Register the boards of another server', [xiaozhiServerCommand]);
