/** Tool arguments: the schema can only say JSON, but a tool takes an object. */
import { ApiError } from '../errors/api-error.js';

export type JsonObject = Readonly<Record<string, unknown>>;

/** The object, or an empty one where the caller gave none. `name` is the input member for the message. */
export function jsonObject(value: unknown, name: string): JsonObject {
  if (value === undefined || value === null) return {};
  if (isJsonObject(value)) return value;
  throw new ApiError('BAD_USER_INPUT', `"${name}" must be a JSON object, for example {"volume": 40}.`);
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
