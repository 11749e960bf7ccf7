/**
 * The certificate and key files of the hub. Reads them at start and after each change, and updates
 * all listeners.
 */
import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { SecureContextOptions } from 'node:tls';

interface TlsFilesOptions {
  readonly certFile: string;
  readonly keyFile: string;
  readonly logger: { info(message: string): void; warn(details: object, message: string): void };
}

/** A server whose certificate can be replaced: a `tls.Server`. */
interface Listener {
  setSecureContext(options: SecureContextOptions): void;
}

/** Interval of the looks at both files, ms. */
const LOOK_EVERY_MS = 200;

/** Delay after a change, ms: certificate and key are written one after the other. */
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

  /** Throws TlsFilesError when the files cannot be used. */
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

  /** Looks behind all links: a renewal may replace a file, a link, or a folder of links. */
  #watch(): () => void {
    const files = [this.options.certFile, this.options.keyFile];
    let timer: NodeJS.Timeout | undefined;
    const changed = () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.#reload(), SETTLE_MS);
    };
    for (const file of files) watchFile(file, { persistent: false, interval: LOOK_EVERY_MS }, changed);
    return () => {
      clearTimeout(timer);
      for (const file of files) unwatchFile(file, changed);
    };
  }

  #reload(): void {
    const { logger } = this.options;
    try {
      const read = this.#read();
      if (String(read.cert) === String(this.#current.cert) && String(read.key) === String(this.#current.key)) return;
      this.#current = read;
      for (const listener of this.#listeners) listener.setSecureContext(read);
      logger.info('replaced the TLS certificate');
    } catch (error) {
      logger.warn({ err: error }, 'the changed TLS files cannot be used: the previous certificate stays');
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
