/** What an operator may say of a tool, and why not. Asks no database. */
import { callTimeoutMsMax, callTimeoutMsMin } from '@flotilla/jobs';
import type { ToolPolicy } from '@flotilla/jobs';
import { z } from 'zod';
import { refuseIssue, sayIssue } from '../refusal.js';
import type { Refusal } from '../refusal.js';

/** Characters of names, paths and texts: each is stored, and looked at for every call. */
const textLengthMax = 200;

/** Slow values, such as a motor, take seconds; the check of a job waits five minutes at most. */
const settleMsMax = 60_000;
const settleRange = `The time before the reading is 0 to ${settleMsMax} ms.`;

const patternSchema = z
  .string()
  .max(textLengthMax)
  .regex(
    /^[^\s*\p{Cc}]*\*?$/u,
    'A pattern is the exact name of a tool, or the beginning of names with one `*` at its end.',
  )
  .min(1, 'A pattern is the exact name of a tool, or the beginning of names with one `*` at its end.');

const policySchema = z
  .object({
    pattern: patternSchema,
    disruptive: z.boolean(),
    readOnly: z.boolean().optional(),
    verification: z.enum(['NONE', 'READBACK', 'REBOOT', 'FIRMWARE']),
    readback: z
      .object({
        tool: z.string().min(1).max(textLengthMax),
        path: z
          .string()
          .max(textLengthMax)
          .regex(
            /^[^.]+(\.[^.]+)*$/,
            'The path is member names with dots between them, for example audio_speaker.volume.',
          ),
        argument: z.string().min(1).max(textLengthMax),
        tolerance: z.number().min(0, 'A tolerance is 0 or more, in the unit of the value.').optional(),
        settleMs: z.int().min(0, settleRange).max(settleMsMax, settleRange).optional(),
      })
      .optional(),
    failureText: z.string().min(1).max(textLengthMax).optional(),
    callTimeoutMs: z
      .int()
      .min(callTimeoutMsMin, `A call may take ${callTimeoutMsMin} to ${callTimeoutMsMax} ms.`)
      .max(callTimeoutMsMax, `A call may take ${callTimeoutMsMin} to ${callTimeoutMsMax} ms.`),
  })
  .refine(({ readOnly, disruptive }) => readOnly !== true || !disruptive, {
    path: ['readOnly'],
    message: 'A tool that only reads is not disruptive. Set `readOnly` or `disruptive`, not both.',
  })
  .refine(({ verification, disruptive }) => disruptive || (verification !== 'REBOOT' && verification !== 'FIRMWARE'), {
    path: ['disruptive'],
    message: 'A tool that is verified by a restart or firmware version disrupts its device. Set `disruptive` to true.',
  })
  .refine(({ verification, readback }) => verification !== 'READBACK' || readback !== undefined, {
    path: ['readback'],
    message: 'READBACK needs `readback`: the tool to call, the path of the value, and the argument that it must equal.',
  });

/** The first rule that is broken, or undefined. `path` leads to the policy. */
export function refusePolicy(policy: ToolPolicy, path: readonly string[]): Refusal | undefined {
  const issue = policySchema.safeParse(policy, { error: sayIssue }).error?.issues[0];
  return issue && { ...refuseIssue(issue, path), code: 'INVALID' };
}
