/**
 * A hub of several processes with its PostgreSQL and Redis, with front doors between all of them,
 * under a supervisor that restarts what ended. For faults at any place.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '../eventually.js';
import { startHub, type HubProcess } from '../hub/hub-process.js';
import { startRedis, type RedisServer } from '../hub/redis-server.js';
import { FrontDoor } from './front-door.js';
import { makePostgres, type OwnPostgres } from './own-postgres.js';
import { makeSmallDisk, type SmallDisk } from './small-disk.js';

const steppedClock = fileURLToPath(new URL('stepped-clock.mjs', import.meta.url));

export type MemberRole = 'gateway' | 'api' | 'worker';

const roles: readonly MemberRole[] = ['gateway', 'gateway', 'worker', 'worker', 'api'];

/** A process of the fleet, which the supervisor starts again whenever it ends. */
export class Member {
  hub: HubProcess | undefined;
  /** A balancer sends nothing to a process that does not answer its probes. */
  isStopped = false;
  #isEnding = false;
  #clockFile: string;

  constructor(
    readonly role: MemberRole,
    readonly dataDir: string,
    readonly env: Readonly<Record<string, string>>,
  ) {
    mkdirSync(dataDir, { recursive: true });
    this.#clockFile = path.join(path.dirname(dataDir), `${path.basename(dataDir)}.clock`);
  }

  get isServing(): boolean {
    return this.hub !== undefined && !this.isStopped;
  }

  /** Starts it, again and again while its servers do not let it. */
  async start(): Promise<void> {
    while (!this.#isEnding) {
      const env = {
        ...this.env,
        FLOTILLA_ROLES: this.role,
        FLOTILLA_TEST_CLOCK: this.#clockFile,
        NODE_OPTIONS: `--import ${steppedClock}`,
      };
      const hub = await startHub({ dataDir: this.dataDir, env }).catch(() => undefined);
      if (hub === undefined) continue;
      this.hub = hub;
      void hub.exited.then(() => {
        this.hub = undefined;
        this.isStopped = false;
        if (!this.#isEnding) void this.start();
      });
      return;
    }
  }

  async kill(): Promise<void> {
    await this.hub?.kill();
  }

  freeze(): void {
    this.isStopped = true;
    this.#signal('SIGSTOP');
  }

  thaw(): void {
    this.isStopped = false;
    this.#signal('SIGCONT');
  }

  /** Sets its wall clock ahead by this time; a negative one sets it back. */
  setClockAhead(aheadMs: number): void {
    writeFileSync(this.#clockFile, String(aheadMs));
    this.#signal('SIGUSR2');
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    this.thaw();
    await this.hub?.stop();
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.hub !== undefined) process.kill(this.hub.pid, signal);
  }
}

interface Doors {
  /** For devices. */
  readonly mqtt: FrontDoor;
  readonly webSocket: FrontDoor;
  /** For callers. */
  readonly api: FrontDoor;
  /** For the processes. */
  readonly postgres: FrontDoor;
  readonly redis: FrontDoor;
}

export interface FleetOfProcesses {
  readonly members: readonly Member[];
  readonly doors: Doors;
  readonly disk: SmallDisk;
  readonly postgres: OwnPostgres;
  readonly redis: RedisServer;
  /** What callers and devices know of the hub: its front doors and secrets. */
  readonly entry: Pick<HubProcess, 'httpUrl' | 'adminKey' | 'httpPort' | 'mqttPort' | 'deviceSecret' | 'dataDir'>;
  /** Resolves when every process runs. */
  complete(): Promise<void>;
  close(): Promise<void>;
}

/** Opens everything. What was opened is closed in reverse order, also after a failed start. */
export async function startFleetOfProcesses(
  settings: Readonly<Record<string, string>> = {},
): Promise<FleetOfProcesses> {
  const closers: (() => Promise<void> | void)[] = [];
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    return await open(settings, closers, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function open(
  settings: Readonly<Record<string, string>>,
  closers: (() => Promise<void> | void)[],
  close: () => Promise<void>,
): Promise<FleetOfProcesses> {
  const disk = makeSmallDisk();
  closers.push(() => disk.remove());
  const postgres = await makePostgres(path.join(disk.folder, 'database'));
  closers.push(() => postgres.stop());
  const redis = await startRedis();
  closers.push(() => redis.stop());
  const members: Member[] = [];
  const portsOf = (role: MemberRole, kind: 'httpPort' | 'mqttPort') => () =>
    members
      .filter((member) => member.role === role && member.isServing)
      .flatMap(({ hub }) => (hub === undefined ? [] : [hub[kind]]));
  const door = async (targets: () => readonly number[]): Promise<FrontDoor> => {
    const opened = await FrontDoor.open(targets);
    closers.push(() => opened.close());
    return opened;
  };
  const redisPort = Number(new URL(redis.url).port);
  const doors: Doors = {
    mqtt: await door(portsOf('gateway', 'mqttPort')),
    webSocket: await door(portsOf('gateway', 'httpPort')),
    api: await door(portsOf('api', 'httpPort')),
    postgres: await door(() => [postgres.port]),
    redis: await door(() => [redisPort]),
  };
  const secrets = {
    FLOTILLA_ADMIN_KEY: randomBytes(32).toString('hex'),
    FLOTILLA_DEVICE_SECRET: randomBytes(32).toString('hex'),
  };
  const servers = {
    DATABASE_URL: postgres.urlAt(doors.postgres.port),
    REDIS_URL: `redis://127.0.0.1:${doors.redis.port}`,
  };
  const env = { ...secrets, ...servers, FLOTILLA_LOG_LEVEL: 'warn', ...settings };
  for (const [index, role] of roles.entries())
    members.push(new Member(role, path.join(disk.folder, `${role}-${index}`), env));
  closers.push(async () => void (await Promise.all(members.map((member) => member.end()))));
  await Promise.all(members.map((member) => member.start()));
  const areComplete = () => members.every(({ isServing }) => isServing);
  return {
    members,
    doors,
    disk,
    postgres,
    redis,
    close,
    entry: {
      httpUrl: `http://127.0.0.1:${doors.api.port}`,
      adminKey: secrets.FLOTILLA_ADMIN_KEY,
      httpPort: doors.webSocket.port,
      mqttPort: doors.mqtt.port,
      deviceSecret: secrets.FLOTILLA_DEVICE_SECRET,
      dataDir: disk.folder,
    },
    complete: async () => void (await eventually(areComplete, (complete) => complete, 60_000)),
  };
}
