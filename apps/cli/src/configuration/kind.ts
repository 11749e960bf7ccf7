/**
 * A kind of things that a configuration file describes. `kinds.ts` lists all; a new one is one file
 * in `kinds`.
 */
import type { FlotillaClient } from '@flotilla/client';

export type Fields = Readonly<Record<string, unknown>>;

export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** A thing of the hub. */
export interface Live {
  readonly id: string;
  readonly name: string;
  /** With names in place of ids; null fields are left out. Secrets read `***`. */
  readonly fields: Fields;
  /** What was read, where the hub refuses a change of another revision. */
  readonly revision?: number | string;
  /** Came with the hub, and no person changed it: a file may replace all of it. */
  readonly isPristine?: boolean;
  /** The hub limits it to the devices of a key, which no file can say. */
  readonly isLimited?: boolean;
}

/** What the hub knows of other kinds, to translate names into ids. */
export interface References {
  /** Ids of device groups by name. */
  readonly groups: ReadonlyMap<string, string>;
  /** Ids of firmware images by SHA-256. */
  readonly images: ReadonlyMap<string, string>;
  /** Ids of notification channels by name. */
  readonly channels: ReadonlyMap<string, string>;
}

export interface KindContext {
  readonly client: FlotillaClient;
  readonly references: References;
  /** The folder of the file, for paths in it. */
  readonly folder: string;
}

/**
 * Fields that the hub adds to an object, or to each object of a list. A list among them is what it
 * adds to a field that is set.
 */
export type Added = Fields | readonly [Fields];

export interface Kind {
  /** The heading in the file, such as `DeviceGroup`. */
  readonly kind: string;
  /** What the name of a thing is, for people. */
  readonly nameIs: string;
  /** JSON Schema of each field. */
  readonly fields: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
  /** What the hub has for fields that were never set; null for all others. */
  readonly defaults?: Fields;
  /** What the hub adds to fields that are objects or lists of them. */
  readonly within?: Readonly<Record<string, Added>>;
  /** Fields that explain, and are not compared. */
  readonly notes?: readonly string[];
  /** Fields that are paths from the folder of the file. */
  readonly paths?: readonly string[];
  /** Fields that are lists without an order. */
  readonly sets?: readonly string[];
  /** Fields that are texts with a list: the hub changes the spaces between its commas. */
  readonly textLists?: readonly string[];
  /** The field with its end: from then on the hub does not have it. */
  readonly endsAt?: string;
  /** The order of names in which things are written, where that of the alphabet is wrong. */
  readonly order?: (one: string, other: string) => number;
  /** What stays of the fields of the hub that a file does not have. Without it, all of them do. */
  kept?(live: Fields, wanted: Fields): Fields;
  /** Whether `create` returns a secret that the hub shows only once. */
  readonly hasSecret?: boolean;
  /** Throws UsageError where `fields` name a thing that is not in `references`. */
  requireNamed?(fields: Fields, references: References): void;
  /** Throws UsageError where the creation of this thing lacks what only this computer has. */
  requireInputs?(name: string, fields: Fields, context: Omit<KindContext, 'references'>): Promise<void>;
  /** Things of the hub, without those that no file should have. */
  read(context: Omit<KindContext, 'folder'>): Promise<readonly Live[]>;
  /** Returns the secret, if there is one. */
  create(name: string, fields: Fields, context: KindContext): Promise<string | undefined | void>;
  /** Missing where a change needs a new thing: then it is removed and created again. */
  update?(live: Live, fields: Fields, context: KindContext): Promise<void>;
  remove(live: Live, context: KindContext): Promise<void>;
}

/** A secret in a file: the name of the environment variable that has it. */
interface FromEnvironment {
  readonly fromEnv: string;
}

export function isFromEnvironment(value: unknown): value is FromEnvironment {
  return isFields(value) && typeof value['fromEnv'] === 'string' && Object.keys(value).length === 1;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Without null, which the API returns for what is not set. */
export function withoutNull(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

/** Whether this end has come; false for what has no end. */
export function isOver(end: unknown, now = Date.now()): boolean {
  return typeof end === 'string' && Date.parse(end) <= now;
}
