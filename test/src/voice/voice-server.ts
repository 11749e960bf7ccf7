/** The simulated voice server as a child process (apps/simulator/README.md). */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const serverMain = fileURLToPath(new URL('../../../apps/simulator/dist/program/voice-server.js', import.meta.url));

/** What one conversation came to. */
interface EndedConversation {
  readonly device: string;
  readonly heard: number;
  readonly said: number;
  readonly tools: readonly string[];
  readonly answers: readonly unknown[];
}

export interface VoiceServerProcess {
  readonly url: string;
  /** Conversations that have ended, in that order. */
  readonly ended: readonly EndedConversation[];
  stop(): Promise<void>;
}

export async function startVoiceServer(args: readonly string[] = []): Promise<VoiceServerProcess> {
  const child = spawn(process.execPath, [serverMain, '--port', '0', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const ended: EndedConversation[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new Error('the voice server did not start')));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { event, ...rest } = JSON.parse(line) as {
        readonly event: string;
        readonly url: string;
      } & EndedConversation;
      if (event === 'listening') resolve(rest.url);
      else ended.push(rest);
    });
  });
  return {
    url,
    ended,
    stop: async () => {
      child.kill();
      await exited;
    },
  };
}
