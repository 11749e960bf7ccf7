/** One of the bench's own processes: takes a request, and answers it with one message. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export class Child {
  readonly #process: ChildProcess;

  constructor(module: string) {
    this.#process = fork(fileURLToPath(new URL(module, import.meta.url)), { serialization: 'advanced' });
  }

  /** The next message of the process; rejects when it ends instead. */
  async answer<Answer>(): Promise<Answer> {
    const ended = once(this.#process, 'exit').then(([code]) =>
      Promise.reject(new Error(`A process of the bench ended with code ${code}.`)),
    );
    const [message] = (await Promise.race([once(this.#process, 'message'), ended])) as [Answer];
    return message;
  }

  ask<Answer>(request: object): Promise<Answer> {
    this.#process.send(request);
    return this.answer<Answer>();
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const exited = once(this.#process, 'exit');
    this.#process.disconnect();
    await exited;
  }
}
