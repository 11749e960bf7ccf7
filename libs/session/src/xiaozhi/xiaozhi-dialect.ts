/** The dialect of xiaozhi-esp32 devices. Unfinished: the constructor and `setSessionId` are final. */

/** Where the device's camera may ask about pictures; sent with each greeting. [xiaozhi §4.3] */
export interface VisionService {
  readonly url: string;
  readonly token?: string;
}

export class XiaozhiDialect {
  readonly vision: VisionService | undefined;
  sessionId: string | undefined;

  constructor(options: { readonly vision?: VisionService | undefined } = {}) {
    this.vision = options.vision;
  }

  /** The id that a server hello gave to the conversation; from then on every message repeats it. Over MQTT nothing depends on it. [xiaozhi §2.7] */
  setSessionId(sessionId: string): void {
    this.sessionId = sessionId;
  }
}
