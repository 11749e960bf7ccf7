/** What people and files say of an image: the columns of its row, and checks of the texts. */
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';

/** Boards that one publication names; there are about a hundred in all. */
const MODELS_MAX = 200;
const MODEL_LENGTH_MAX = 128;
const NOTES_LENGTH_MAX = 4_000;
const FILE_NAME_LENGTH_MAX = 255;

/** What a file says of itself; assets say nothing. */
interface ImageDescription {
  readonly project: string;
  readonly version: string;
  readonly chip: string;
  readonly idfVersion: string | undefined;
  readonly elfSha256: string | undefined;
  readonly secureVersion?: number;
  readonly minChipRevision?: number;
  readonly maxChipRevision?: number | undefined;
  readonly flashMode?: string | undefined;
  readonly secureBootKeys?: readonly string[] | undefined;
}

/** The columns of the description. Where a file says nothing, the default of the column holds. */
export function describedColumns({
  chip,
  elfSha256,
  idfVersion,
  project,
  version,
  ...needs
}: ImageDescription): ImageDescription {
  const { secureVersion, minChipRevision, maxChipRevision, flashMode, secureBootKeys } = needs;
  return {
    chip,
    elfSha256,
    idfVersion,
    project,
    version,
    maxChipRevision,
    flashMode,
    secureBootKeys,
    ...(secureVersion !== undefined && { secureVersion }),
    ...(minChipRevision !== undefined && { minChipRevision }),
  };
}

/** The last part of the path, without control characters. */
export function plainName(fileName: string): string {
  const name = fileName.replace(/^.*[/\\]/, '').replace(/[\p{Cc}\p{Surrogate}]/gu, '');
  return name.slice(0, FILE_NAME_LENGTH_MAX) || 'unnamed';
}

export function refuseModels(models: readonly string[]): Refusal | undefined {
  if (models.length < 1 || models.length > MODELS_MAX)
    return refuse(
      'INVALID',
      ['models'],
      `An image is published for 1 to ${String(MODELS_MAX)} boards, not for ${String(models.length)}.`,
    );
  const index = models.findIndex(
    (model) => model.length > MODEL_LENGTH_MAX || !/^[^\p{Cc}\p{Surrogate}]+$/u.test(model) || model !== model.trim(),
  );
  if (index < 0) return undefined;
  const message =
    'Name a board as its devices report it (device.model), ' +
    `with 1 to ${String(MODEL_LENGTH_MAX)} characters and no spaces at its ends.`;
  return refuse('INVALID', ['models', String(index)], message);
}

export function refuseNotes(notes: string | undefined): Refusal | undefined {
  if (notes === undefined || notes.length <= NOTES_LENGTH_MAX) return undefined;
  return refuse('INVALID', ['notes'], `Notes have at most ${String(NOTES_LENGTH_MAX)} characters.`);
}
