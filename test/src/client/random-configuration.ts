/** Random configurations of a hub, for properties of `flotilla plan` and `apply`. */
import fc from 'fast-check';

export type Fields = Readonly<Record<string, unknown>>;
/** Things by kind and name. */
export type ConfigurationDocument = ReadonlyMap<string, ReadonlyMap<string, Fields>>;

const word = fc.stringMatching(/^[a-z][a-z0-9 _.:"'#-]{0,12}[a-z0-9]$/);
const tag = fc.stringMatching(/^[a-z][a-z0-9_.:-]{0,12}$/);
const filter = fc.oneof(
  fc.record({ tags: fc.uniqueArray(tag, { minLength: 1, maxLength: 3 }) }),
  fc.record({ model: word }),
  fc.record({ any: fc.array(fc.record({ search: word }), { minLength: 1, maxLength: 3 }) }),
);
const time = fc.date({ min: new Date('2027-01-01'), max: new Date('2035-01-01'), noInvalidDate: true });
const expiresAt = time.map((date) => date.toISOString());
/** A link lives at most 366 days. */
const soon = fc.integer({ min: 1, max: 360 }).map((days) => new Date(Date.now() + days * 86_400_000).toISOString());
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined, freq: 2 });
const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Shanghai');
const voiceUrl = fc.constantFrom('wss://voice.example.com/', 'wss://a.example.com/,wss://b.example.com/v1/');
const named = (fields: fc.Arbitrary<object>, name = word) => fc.dictionary(name, fields, { maxKeys: 3 });
const waves = fc.constantFrom([{ percent: 5, soakSeconds: 60 }, { percent: 100 }], [{ count: 2 }, { percent: 50 }]);
const abort = fc.constantFrom([{ outcomes: ['FAILED'], ratio: 0.1 }], [{ outcomes: ['UNKNOWN'], count: 3 }]);

const readback = fc.record({
  tool: fc.constant('self.get_device_status'),
  path: fc.constant('lamp.level'),
  argument: fc.constant('level'),
  tolerance: optional(fc.nat(9)),
  settleMs: optional(fc.nat(60_000)),
});

const recordingRule = fc.record({
  devices: filter,
  deadband: fc.nat(9),
  minIntervalSeconds: fc.integer({ min: 1, max: 900 }),
});

export interface ImageFile {
  readonly sha256: string;
  /** Its name in the folder of the configuration. */
  readonly file: string;
}

/** Secrets are in the environment variables HOOK, an address, and KEY. */
export const randomConfiguration = ({ sha256, file }: ImageFile) =>
  fc
    .record({
      DeviceGroup: named(fc.record({ filter, timeZone: optional(zone), voiceUrl: optional(voiceUrl) })),
      ToolPolicy: named(
        fc.record({
          idempotent: fc.boolean(),
          disruptive: fc.boolean(),
          disconnectExpected: optional(fc.boolean()),
          failureText: optional(word),
          readback: optional(readback),
          callTimeoutMs: optional(fc.integer({ min: 1_000, max: 300_000 })),
        }),
        fc.stringMatching(/^self\.[a-z]{3,8}\.[a-z]{3,8}$/),
      ),
      DesiredState: named(
        fc.record({
          devices: filter,
          tool: fc.constant('self.audio_speaker.set_volume'),
          arguments: fc.record({ volume: fc.nat(100) }),
          mode: optional(fc.constantFrom('ENFORCE', 'REPORT')),
          priority: optional(fc.nat(9)),
          window: optional(fc.record({ from: fc.constant('22:00'), to: fc.constant('07:00'), zone: optional(zone) })),
          waves: optional(waves),
          abort: optional(abort),
          enabled: optional(fc.boolean()),
        }),
      ),
      RecurringJob: named(
        fc.record({
          cron: fc.constantFrom('@daily', '30 6 * * MON-FRI', '0 22 1 * *'),
          timeZone: zone,
          job: fc.record({
            tool: fc.constant('self.lamp.turn_off'),
            devices: filter,
            maxInFlight: fc.integer({ min: 1, max: 100 }),
            waves: optional(waves),
            abort: optional(abort),
          }),
          overlap: optional(fc.constantFrom('SKIP', 'CANCEL_PREVIOUS')),
          enabled: optional(fc.boolean()),
          until: optional(expiresAt),
        }),
      ),
      EnrolmentLink: named(
        fc.record({
          tags: fc.uniqueArray(tag, { maxLength: 3 }),
          maxDevices: fc.integer({ min: 1, max: 99 }),
          expiresAt: soon,
        }),
      ),
      FirmwareImage: named(
        fc.record({
          file: fc.constant(file),
          notes: optional(word),
          models: fc.uniqueArray(word, { minLength: 1, maxLength: 3 }),
        }),
        fc.constant(sha256),
      ),
      Webhook: named(
        fc.record({ types: fc.constantFrom(['*'], ['job.*', 'device.disconnected']), enabled: optional(fc.boolean()) }),
        fc.stringMatching(/^https:\/\/[a-z]{3,9}\.example\.com\/[a-z0-9]{0,8}$/),
      ),
      RecordingRule: named(
        fc.record({ rules: fc.array(recordingRule, { minLength: 1, maxLength: 3 }) }),
        fc.stringMatching(/^samples:[a-z]{3,8}$/),
      ),
      NotificationChannel: named(
        fc.oneof(
          fc.record({
            kind: fc.constantFrom('SLACK', 'WEBHOOK', 'FEISHU'),
            enabled: optional(fc.boolean()),
            config: fc.constantFrom(
              { url: { fromEnv: 'HOOK' } },
              { url: { fromEnv: 'HOOK' }, secret: { fromEnv: 'KEY' } },
            ),
          }),
          fc.constant({ kind: 'TELEGRAM', config: { token: { fromEnv: 'KEY' }, chatId: '-100' } }),
        ),
      ),
      AlertRule: named(
        fc.record({
          kind: fc.constantFrom('DEVICE_OFFLINE', 'UNEXPECTED_RESTARTS', 'CREDENTIAL_REFUSED'),
          devices: optional(filter),
          severity: optional(fc.constantFrom('INFO', 'CRITICAL')),
          forSeconds: optional(fc.nat(600)),
          groupAbove: optional(fc.integer({ min: 1, max: 50 })),
          enabled: optional(fc.boolean()),
        }),
      ),
      ApiKey: named(
        fc.record({
          scopes: fc.uniqueArray(fc.constantFrom('DEVICES_READ', 'JOBS_READ', 'EVENTS_READ', 'TOOLS_CALL'), {
            minLength: 1,
          }),
          devices: optional(filter),
          expiresAt: optional(expiresAt),
        }),
      ),
    })
    .map((kinds): ConfigurationDocument => {
      const channels = Object.keys(kinds.NotificationChannel);
      const rules = Object.entries(kinds.AlertRule).map(([name, rule]) => [name, { ...rule, channels }] as const);
      const [group] = Object.keys(kinds.DeviceGroup);
      const ofGroup = <Thing extends object>(things: Readonly<Record<string, Thing>>) =>
        Object.fromEntries(
          Object.entries(things).map(([name, thing], index) => [
            name,
            group === undefined || index % 2 === 1 ? thing : { ...thing, devices: { group } },
          ]),
        );
      const selecting = { DesiredState: ofGroup(kinds.DesiredState), ApiKey: ofGroup(kinds.ApiKey) };
      const defined = (fields: object) =>
        Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
      return new Map(
        Object.entries({ ...kinds, ...selecting, AlertRule: Object.fromEntries(rules) }).map(([kind, things]) => [
          kind,
          new Map(Object.entries(things).map(([name, fields]) => [name, defined(fields) as Fields])),
        ]),
      );
    });
