/** One HTTP request of the doctor, also to a server whose certificate is not valid. */
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

/** A slower answer counts as none, ms. */
const ANSWERS_WITHIN_MS = 5_000;
/** Bytes of an answer that are read. */
const BODY_BYTES_MAX = 64 * 1024;

interface Asked {
  readonly headers?: Readonly<Record<string, string>>;
  /** False accepts any certificate, such as for an address of this machine. */
  readonly checksCertificate?: boolean;
}

export interface HttpAnswer {
  /** 101: the server changed the protocol, and the connection was closed. */
  readonly status: number;
  readonly body: string;
}

/** Rejects with the error of the connection. */
export function askHttp(url: string, { headers = {}, checksCertificate = true }: Asked = {}): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const isTls = url.startsWith('https:');
    const options = { headers, timeout: ANSWERS_WITHIN_MS, agent: false as const };
    const request = isTls
      ? requestHttps(url, { ...options, rejectUnauthorized: checksCertificate })
      : requestHttp(url, options);
    request.on('response', (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
        if (body.length > BODY_BYTES_MAX) response.destroy();
      });
      response.on('close', () => resolve({ status: response.statusCode ?? 0, body }));
      response.on('error', reject);
    });
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      resolve({ status: 101, body: '' });
    });
    request.on('timeout', () => request.destroy(new Error(`no answer within ${ANSWERS_WITHIN_MS / 1_000} s`)));
    request.on('error', reject);
    request.end();
  });
}
