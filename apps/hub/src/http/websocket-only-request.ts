/**
 * The requests of the HTTP server. WebSocket is the only upgrade: another offer, such as `h2c` of
 * java.net.http.HttpClient and curl, is ignored, and its route answers. [RFC 9110 §7.8]
 */
import { IncomingMessage } from 'node:http';

/** Node passes a request to the `upgrade` listeners where `upgrade` is true. */
export class WebSocketOnlyRequest extends IncomingMessage {
  /** Without an initial value: the constructor of Node sets `upgrade` before one would exist. */
  declare private hasOffer?: boolean;

  get upgrade(): boolean {
    return this.hasOffer === true && (this.method === 'CONNECT' || offersWebSocket(this.headers.upgrade));
  }

  set upgrade(hasOffer: boolean | null) {
    this.hasOffer = hasOffer === true;
  }
}

function offersWebSocket(protocols = ''): boolean {
  return protocols.split(',').some((protocol) => protocol.trim().toLowerCase() === 'websocket');
}
