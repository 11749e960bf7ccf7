/** A view of a transport that reports what was sent, while a person reads the log of a session. */
import type { Transport } from '@flotilla/mcp';

/** The direction of a message, as the hub sees it. */
type MessageDirection = 'SENT' | 'RECEIVED';

/** Receives each message of a connection. Must not throw. */
export type MessageTap = (direction: MessageDirection, text: string) => void;

/** Only its `send` differs. Callbacks are those of the given transport. */
export function tappedTransport(transport: Transport, tap: MessageTap): Transport {
  return {
    start: () => transport.start(),
    send: (text, isMoreToCome) => {
      const isAccepted = transport.send(text, isMoreToCome);
      if (isAccepted) tap('SENT', text);
      return isAccepted;
    },
    close: (reason) => transport.close(reason),
    get onmessage() {
      return transport.onmessage;
    },
    set onmessage(onmessage) {
      transport.onmessage = onmessage;
    },
    get onerror() {
      return transport.onerror;
    },
    set onerror(onerror) {
      transport.onerror = onerror;
    },
    get onclose() {
      return transport.onclose;
    },
    set onclose(onclose) {
      transport.onclose = onclose;
    },
  };
}
