/** Recording rules: few rows, which every gateway reads. */
import { audited } from '../audit/append-audit.js';
import type { AuditedChange, ChangeOrigin } from '../audit/audit-entry.js';
import type { Database } from '../database/database.js';
import { storableJson, storableText } from '../database/json-rows.js';
import { plainRow } from '../database/plain-row.js';
import { isUuid } from '../database/uuid-v7.js';
import type { DeviceFilter } from '../device-filter.js';
import { listedDeviceCondition } from '../devices/device-condition.js';
import type { RecordingRule } from '../generated/prisma/client.js';
import { resolveFilter } from '../groups/resolve-filter.js';
import type { RecordingRuleRow } from './measurement.js';

type RecordingRuleAnswer =
  | { readonly kind: 'saved'; readonly rule: RecordingRuleRow }
  | { readonly kind: 'NOT_FOUND' }
  | { readonly kind: 'FULL' };

export class RecordingRuleStore {
  constructor(private readonly database: Database) {}

  /** Latest saved first. */
  async list(): Promise<readonly RecordingRuleRow[]> {
    const orderBy = [{ savedAt: 'desc' as const }, { id: 'desc' as const }];
    return (await this.database.ask((prisma) => prisma.recordingRule.findMany({ orderBy }))).map(toRow);
  }

  /** Replaces the rule with this id, or creates it where `isNew`. */
  async save(
    rule: Omit<RecordingRuleRow, 'savedAt'>,
    { at, by, isNew, rulesMax }: ChangeOrigin & { readonly isNew: boolean; readonly rulesMax: number },
  ): Promise<RecordingRuleAnswer> {
    const { id, devices, path, deadband, minIntervalSeconds, savedBy } = rule;
    if (!isUuid(id)) return { kind: 'NOT_FOUND' };
    const data = {
      path: storableText(path),
      deadband,
      minIntervalSeconds,
      savedBy: storableText(savedBy),
      devices: storableJson(devices),
    };
    return audited(
      this.database,
      by,
      async (transaction): Promise<RecordingRuleAnswer> => {
        await transaction.query({ text: 'LOCK TABLE recording_rule IN SHARE ROW EXCLUSIVE MODE' }, []);
        return transaction.ask(async (prisma) => {
          const { _count: rules, _max: latest } = await prisma.recordingRule.aggregate({
            _count: true,
            _max: { savedAt: true },
          });
          // The latest saved rule applies, also if a clock was set back or another process saved.
          const savedAt = Math.max(at, (latest.savedAt?.getTime() ?? 0) + 1);
          const saved = { ...data, savedAt: new Date(savedAt) };
          if (isNew) {
            if (rules >= rulesMax) return { kind: 'FULL' };
            return { kind: 'saved', rule: toRow(await prisma.recordingRule.create({ data: { id, ...saved } })) };
          }
          const { count } = await prisma.recordingRule.updateMany({ where: { id }, data: saved });
          return count === 0 ? { kind: 'NOT_FOUND' } : { kind: 'saved', rule: { ...rule, savedAt } };
        });
      },
      (answer) => (answer.kind === 'saved' ? [changeOf('recording_rule.saved', answer.rule, at)] : []),
    );
  }

  /** What was recorded stays. False where there is no such id. */
  async remove(id: string, { at, by }: ChangeOrigin): Promise<boolean> {
    if (!isUuid(id)) return false;
    const former = await this.database.ask((prisma) => prisma.recordingRule.findUnique({ where: { id } }));
    if (former === null) return false;
    return audited(
      this.database,
      by,
      (transaction) =>
        transaction.ask(async (prisma) => (await prisma.recordingRule.deleteMany({ where: { id } })).count > 0),
      (isRemoved) => (isRemoved ? [changeOf('recording_rule.deleted', toRow(former), at)] : []),
    );
  }

  /** Which of these devices match the filter now. */
  async matching(filter: DeviceFilter, deviceIds: readonly string[]): Promise<ReadonlySet<string>> {
    const parameters: unknown[] = [deviceIds];
    const condition = listedDeviceCondition(await resolveFilter(this.database, filter), parameters);
    const rows = await this.database.query<{ id: string }>(
      { text: `SELECT d.id FROM device d WHERE d.id = ANY($1::text[]) AND ${condition}` },
      parameters,
    );
    return new Set(rows.map(({ id }) => id));
  }
}

function toRow({ devices, ...row }: RecordingRule): RecordingRuleRow {
  return { ...plainRow(row), devices: devices as unknown as DeviceFilter };
}

function changeOf(action: string, rule: RecordingRuleRow, at: number): AuditedChange {
  const { id, devices, path, deadband, minIntervalSeconds } = rule;
  return { action, subject: `recording-rule:${id}`, data: { devices, path, deadband, minIntervalSeconds }, at };
}
