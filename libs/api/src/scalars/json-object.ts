/** Tool arguments: the schema can only say JSON, but a tool takes an object. */
import { isJsonObject, type JsonObject } from '@flotilla/mcp';
import { ApiError } from '../errors/api-error.js';

/** The object, or an empty one by default. `name` is the input member for the message. */
export function jsonObject(value: unknown, name: string): JsonObject {
  if (value === undefined || value === null) return {};
  if (isJsonObject(value)) return value;
  throw new ApiError('BAD_USER_INPUT', `"${name}" must be a JSON object, for example {"volume": 40}.`);
}
