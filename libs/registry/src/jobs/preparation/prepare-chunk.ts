/** The statement that creates the next targets of a job, with the devices of its filter. */
import type { JobId } from '@flotilla/mcp';
import { sql, SqlFile } from '../../database/sql-file.js';
import { imageIncompatibility, incompatibilityMessage } from '../rollout/image-incompatibility.js';

const { array, bigint, boolean, integer, text, timestamp, uuid } = sql;

export const PREPARE_CHUNK = new SqlFile(
  new URL('./prepare-chunk.sql', import.meta.url),
  {
    parameters: {
      jobId: uuid<JobId>(),
      fence: integer,
      limit: bigint,
      at: timestamp,
      hashes: array(text()),
      codes: array(text()),
      messages: array(text()),
    },
    row: { count: integer, is_preparing: boolean },
  },
  { incompatibility: imageIncompatibility(false), message: incompatibilityMessage('i.incompatibility') },
);
