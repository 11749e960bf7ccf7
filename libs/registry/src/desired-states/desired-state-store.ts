/** Desired states: few rows, changed by people. Their targets are in the queue and the reads. */
import { audited } from '../audit/append-audit.js';
import type { AuditSource, ChangeOrigin } from '../audit/audit-entry.js';
import type { Database, Queryable, Transaction } from '../database/database.js';
import { storableText } from '../database/json-rows.js';
import { isUuid } from '../database/uuid-v7.js';
import type { Prisma } from '../generated/prisma/client.js';
import type { ArgumentSeal } from '../secrets/argument-seal.js';
import { propertyOf } from './desired-state.js';
import type {
  DesiredStateAnswer,
  DesiredStateRow,
  GenerationArguments,
  NewDesiredState,
  RolloutStart,
  SavedDesiredState,
  StoredGeneration,
} from './desired-state.js';
import { changeOf, columnsOf, OMITTED, restarted, sealedPlan, toDesiredState, toEdit } from './desired-state-rows.js';
import { noteFormerRollout } from './queue/rollouts.js';

export class DesiredStateStore {
  constructor(
    private readonly database: Database,
    private readonly seal: ArgumentSeal,
  ) {}

  /** FULL where there are `statesMax`. A repeated request returns its earlier row. */
  create(
    plan: NewDesiredState,
    { statesMax, at, by }: ChangeOrigin & { readonly statesMax: number },
  ): Promise<DesiredStateAnswer> {
    return audited(
      this.database,
      by,
      async (transaction): Promise<DesiredStateAnswer> => {
        await lock(transaction);
        return transaction.ask(async (prisma) => {
          const earlier = await this.#earlier(prisma, plan);
          if (earlier !== undefined) return earlier;
          if (await isTaken(prisma, plan)) return { kind: 'NAME_TAKEN' };
          if ((await prisma.desiredState.count()) >= statesMax) return { kind: 'FULL' };
          const { id, savedById: createdById, tool, arguments: given } = plan;
          const data = {
            ...columnsOf(this.seal, plan, { generation: 1, settledBefore: 0, at }),
            id,
            createdById,
            generation: 1,
            enabled: plan.enabled,
            createdBy: storableText(plan.createdBy),
            idempotencyKey: storableText(plan.idempotencyKey),
            requestHash: this.seal.storedHash(plan.requestHash, tool, given),
            createdAt: new Date(at),
          };
          const state = toDesiredState(await prisma.desiredState.create({ data, omit: OMITTED }));
          await this.#addEdit(prisma, plan, 1, { at, by });
          return { kind: 'saved', state };
        });
      },
      (answer) => (answer.kind === 'saved' ? [changeOf('desired_state.created', answer.state, at)] : []),
    );
  }

  /** Replaces the plan and raises the generation. With `enabled` it ends a pause. */
  update(plan: SavedDesiredState, expectedGeneration: number, { at, by }: ChangeOrigin): Promise<DesiredStateAnswer> {
    const { id } = plan;
    if (!isUuid(id)) return Promise.resolve({ kind: 'NOT_FOUND' });
    return audited(
      this.database,
      by,
      async (transaction): Promise<DesiredStateAnswer> => {
        await lock(transaction);
        const answer = await transaction.ask(async (prisma): Promise<DesiredStateAnswer> => {
          const former = await prisma.desiredState.findUnique({ where: { id } });
          if (former === null) return { kind: 'NOT_FOUND' };
          if (former.generation !== expectedGeneration) return { kind: 'OTHER_GENERATION' };
          if (await isTaken(prisma, plan)) return { kind: 'NAME_TAKEN' };
          const generation = former.generation + 1;
          const hasMoved = former.property !== propertyOf(plan.readback);
          const data = {
            ...columnsOf(this.seal, plan, { generation, settledBefore: former.settledGeneration, at }),
            generation,
            // Others disable it without a new generation, so the caller may not know.
            ...(plan.enabled === undefined ? {} : { enabled: plan.enabled, pausedReason: null }),
            // Another process may own the property that it sets from now on.
            ...(hasMoved ? { ownerId: null, fence: { increment: 1 } } : {}),
          };
          const state = toDesiredState(await prisma.desiredState.update({ where: { id }, data, omit: OMITTED }));
          await noteFormerRollout(prisma, former);
          await this.#addEdit(prisma, plan, generation, { at, by });
          return { kind: 'saved', state, formerJobId: former.rolloutJobId ?? undefined };
        });
        if (answer.kind === 'saved' && !answer.state.enabled) await forgetTargets(transaction, id);
        return answer;
      },
      (answer) => (answer.kind === 'saved' ? [changeOf('desired_state.edited', answer.state, at)] : []),
    );
  }

  /**
   * PAUSED where the hub disabled it: then it has to be saved again. Disabling ends the roll-out of
   * an edit, and enabling begins another.
   */
  async setEnabled(id: string, enabled: boolean, { at, by }: ChangeOrigin): Promise<DesiredStateAnswer> {
    if (!isUuid(id)) return { kind: 'NOT_FOUND' };
    return audited(
      this.database,
      by,
      async (transaction): Promise<DesiredStateAnswer> => {
        await lock(transaction);
        const answer = await transaction.ask(async (prisma): Promise<DesiredStateAnswer> => {
          const former = await prisma.desiredState.findUnique({ where: { id }, omit: OMITTED });
          if (former === null) return { kind: 'NOT_FOUND' };
          if (former.enabled === enabled) return { kind: 'repeat', state: toDesiredState(former) };
          if (enabled && former.pausedReason !== null) return { kind: 'PAUSED' };
          const isRestarted = enabled && former.settledGeneration < former.generation;
          const data = {
            enabled,
            updatedAt: new Date(at),
            ...restarted(at),
            ...(isRestarted ? { rolloutJobId: null } : {}),
          };
          const row = await prisma.desiredState.update({ where: { id }, data, omit: OMITTED });
          if (isRestarted) await noteFormerRollout(prisma, former);
          return { kind: 'saved', state: toDesiredState(row), formerJobId: former.rolloutJobId ?? undefined };
        });
        if (answer.kind === 'saved' && !enabled) await forgetTargets(transaction, id);
        return answer;
      },
      (answer) =>
        answer.kind === 'saved'
          ? [changeOf(enabled ? 'desired_state.enabled' : 'desired_state.disabled', answer.state, at)]
          : [],
    );
  }

  /**
   * Disables it until it is saved again. False where it was disabled or edited meanwhile, or a
   * roll-out began that the caller could not cancel.
   */
  async pause(state: DesiredStateRow, reason: string, at: number, by: AuditSource): Promise<boolean> {
    const { id, generation, rolloutJobId = null } = state;
    const where = { id, generation, rolloutJobId, enabled: true };
    const data = { enabled: false, pausedReason: storableText(reason), updatedAt: new Date(at) };
    return audited(
      this.database,
      by,
      async (transaction) => {
        const isPaused = await transaction.ask(
          async (prisma) => (await prisma.desiredState.updateMany({ where, data })).count > 0,
        );
        if (isPaused) await forgetTargets(transaction, id);
        return isPaused;
      },
      (isPaused) => (isPaused ? [changeOf('desired_state.paused', { ...state, enabled: false }, at, { reason })] : []),
    );
  }

  /** The row that it deleted. Changes no device. Undefined where there is no such id. */
  async remove(id: string, { at, by }: ChangeOrigin): Promise<DesiredStateRow | undefined> {
    if (!isUuid(id)) return undefined;
    return audited(
      this.database,
      by,
      async (transaction) => {
        await lock(transaction);
        const removed = await transaction.ask(async (prisma) => {
          const row = await prisma.desiredState.findUnique({ where: { id }, omit: OMITTED });
          await prisma.desiredState.deleteMany({ where: { id } });
          await prisma.desiredStateEdit.deleteMany({ where: { desiredStateId: id } });
          return row === null ? undefined : toDesiredState(row);
        });
        await forgetTargets(transaction, id);
        return removed;
      },
      (removed) => (removed === undefined ? [] : [changeOf('desired_state.deleted', removed, at)]),
    );
  }

  async find(id: string): Promise<DesiredStateRow | undefined> {
    if (!isUuid(id)) return undefined;
    const query = { where: { id }, omit: OMITTED };
    const row = await this.database.ask((prisma) => prisma.desiredState.findUnique(query));
    return row === null ? undefined : toDesiredState(row);
  }

  /** All that set one of these properties and are enabled: few. */
  async withProperty(property: string): Promise<readonly DesiredStateRow[]> {
    const query = { where: { property, enabled: true }, orderBy: { id: 'asc' as const }, omit: OMITTED };
    return (await this.database.ask((prisma) => prisma.desiredState.findMany(query))).map(toDesiredState);
  }

  /**
   * The arguments of a generation with their secrets. `lost` if they were sealed with another key,
   * undefined for an unknown one.
   */
  async argumentsOf(id: string, generation: number): Promise<GenerationArguments | 'lost' | undefined> {
    const found = await this.generationOf(id, generation);
    return found === 'lost' ? 'lost' : found?.plan.arguments;
  }

  /** The plan and the readback of a generation, with its secrets, as `argumentsOf` has them. */
  async generationOf(id: string, generation: number): Promise<StoredGeneration | 'lost' | undefined> {
    const where = { desiredStateId_generation: { desiredStateId: id, generation } };
    const row = await this.database.ask((prisma) => prisma.desiredStateEdit.findUnique({ where }));
    if (row === null) return undefined;
    const { secretArguments, ...edit } = row;
    const { plan, readback } = toEdit(edit);
    if (secretArguments === null) return { plan, readback };
    const opened = this.seal.open(id, secretArguments);
    return opened === undefined ? 'lost' : { plan: { ...plan, arguments: opened }, readback };
  }

  /** The tools of all enabled desired states: calls of them by other callers are of interest. */
  async toolsInUse(): Promise<readonly string[]> {
    const rows = await this.database.query<{ readonly tool: string }>(
      { name: 'desired-tools', text: `SELECT DISTINCT plan->>'tool' AS tool FROM desired_state WHERE enabled` },
      [],
    );
    return rows.map(({ tool }) => tool);
  }

  /** Notes the job that rolls out this generation, unless there is a newer one, or another job. */
  startRollout({ id, generation, editedAt, rolloutJobId: former }: RolloutStart, jobId: string): Promise<boolean> {
    const where = { id, generation, editedAt: new Date(editedAt), enabled: true };
    const change = { where: { ...where, rolloutJobId: former ?? null }, data: { rolloutJobId: jobId } };
    return this.database.transaction((transaction) =>
      transaction.ask(async (prisma) => {
        const isStarted = former !== jobId && (await prisma.desiredState.updateMany(change)).count > 0;
        if (!isStarted) return (await prisma.desiredState.count({ where: { ...where, rolloutJobId: jobId } })) > 0;
        await noteFormerRollout(prisma, { id, generation, rolloutJobId: former });
        return true;
      }),
    );
  }

  /** From now on the generation applies to all devices. */
  async settleRollout(id: string, generation: number): Promise<boolean> {
    const change = {
      where: { id, generation, settledGeneration: { not: generation } },
      data: { settledGeneration: generation },
    };
    return (await this.database.ask((prisma) => prisma.desiredState.updateMany(change))).count > 0;
  }

  async #earlier(prisma: Prisma.TransactionClient, plan: NewDesiredState): Promise<DesiredStateAnswer | undefined> {
    const { savedById: createdById, idempotencyKey } = plan;
    const where = { createdById_idempotencyKey: { createdById, idempotencyKey: storableText(idempotencyKey) } };
    const earlier = await prisma.desiredState.findUnique({ where, omit: { ...OMITTED, requestHash: false } });
    if (earlier === null) return undefined;
    const { requestHash, ...row } = earlier;
    const isRepeated = this.seal.isHashOf(requestHash, plan.requestHash);
    return isRepeated ? { kind: 'repeat', state: toDesiredState(row) } : { kind: 'CONFLICT' };
  }

  async #addEdit(
    prisma: Prisma.TransactionClient,
    plan: SavedDesiredState,
    generation: number,
    { at, by }: ChangeOrigin,
  ): Promise<void> {
    const data = {
      desiredStateId: plan.id,
      generation,
      at: new Date(at),
      by: storableText(by.actor),
      ...sealedPlan(this.seal, plan),
    };
    await prisma.desiredStateEdit.create({ data });
  }
}

/** Writers take turns, because names are unique and the number of rows is bounded. */
async function lock(transaction: Queryable): Promise<void> {
  await transaction.query({ text: 'LOCK TABLE desired_state IN SHARE ROW EXCLUSIVE MODE' }, []);
}

async function forgetTargets(transaction: Transaction, id: string): Promise<void> {
  await transaction.query({ text: 'DELETE FROM desired_state_target WHERE desired_state_id = $1' }, [id]);
  await transaction.query({ text: 'DELETE FROM desired_state_counter WHERE desired_state_id = $1' }, [id]);
}

async function isTaken(
  prisma: Prisma.TransactionClient,
  { id, name }: { readonly id: string; readonly name: string },
): Promise<boolean> {
  return (await prisma.desiredState.count({ where: { name: storableText(name), id: { not: id } } })) > 0;
}
