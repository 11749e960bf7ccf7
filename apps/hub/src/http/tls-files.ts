/** The hub's certificate and key, from files that somebody else renews: read at the start, and again when they change, for all listeners that use them. */
import { readFileSync, watch } from 'node:fs';
import path from 'node:path';
import { createSecureContext } from 'node:tls';
import type { SecureContextOptions } from 'node:tls';

export interface TlsFilesOptions {
  readonly certFile: string;
  readonly keyFile: string;
  readonly logger: { info(message: string): void; warn(details: object, message: string): void };
}

/** Something with a certificate that can be exchanged: a `tls.Server`. */
interface Listener {
  setSecureContext(options: SecureContextOptions): void;
}

/** Certificate and key are written one after the other, ms: a reading in between finds two that do not belong together. */
const SETTLE_MS = 500;

export class TlsFilesError extends Error {
  readonly code = 'TLS_FILES_INVALID';

  constructor(certFile: string, keyFile: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(
      `FLOTILLA_TLS_CERT (${certFile}) and FLOTILLA_TLS_KEY (${keyFile}) are not a certificate and its key: ${reason}`,
      { cause },
    );
    this.name = 'TlsFilesError';
  }
}

export class TlsFiles {
  #current: SecureContextOptions;
  readonly #listeners: Listener[] = [];
  readonly #close: () => void;

  /** Throws TlsFilesError where the files are not usable now. */
  constructor(private readonly options: TlsFilesOptions) {
    this.#current = this.#read();
    this.#close = this.#watch();
  }

  get current(): SecureContextOptions {
    return this.#current;
  }

  /** Gives the listener each new certificate. Its open connections keep theirs. */
  keepCurrent(listener: Listener): void {
    this.#listeners.push(listener);
  }

  close(): void {
    this.#close();
  }

  /** The folders and not the files: renewal replaces files or the links to them, and a watch would stay with the old one. */
  #watch(): () => void {
    const { certFile, keyFile, logger } = this.options;
    let timer: NodeJS.Timeout | undefined;
    const changed = () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.#reload(), SETTLE_MS);
    };
    const folders = new Set([path.dirname(certFile), path.dirname(keyFile)]);
    const watchers = [...folders].map((folder) =>
      watch(folder, { persistent: false }, changed).on('error', (error) =>
        logger.warn(
          { err: error, folder },
          'changes of the TLS files are no longer noticed: restart the hub after renewing them',
        ),
      ),
    );
    return () => {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    };
  }

  #reload(): void {
    const { logger } = this.options;
    try {
      const read = this.#read();
      if (String(read.cert) === String(this.#current.cert) && String(read.key) === String(this.#current.key)) return;
      this.#current = read;
      for (const listener of this.#listeners) listener.setSecureContext(read);
      logger.info('The TLS certificate was exchanged.');
    } catch (error) {
      logger.warn({ err: error }, 'the TLS files changed and cannot be used: the former certificate stays');
    }
  }

  #read(): SecureContextOptions {
    const { certFile, keyFile } = this.options;
    try {
      const files = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
      createSecureContext(files);
      return files;
    } catch (error) {
      throw new TlsFilesError(certFile, keyFile, error);
    }
  }
}
