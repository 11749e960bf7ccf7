/**
 * The checks before an operation runs, for HTTP and WebSocket: its document, its shape, its cost,
 * and the budget of the caller.
 */
import type { Principal } from '@flotilla/registry';
import { NoSchemaIntrospectionCustomRule, type ValidationRule } from 'graphql';
import type { ApiLimits } from './api-limits.js';
import { CostBudget, type BudgetState } from './cost-budget.js';
import { documentLimits } from './document-limits.js';
import { refuseDeepDocument } from './document-nesting.js';
import { refuseUnfitInput } from './input-bounds.js';
import { refuseCostly, type Operation } from './operation-cost.js';
import { PersistedQueries, type NamedQuery } from './persisted-queries.js';

/** What the operator of the hub allows. */
export interface QueryRules {
  /** Whether the schema may be asked for; it may where this is not given. */
  readonly introspection?: boolean | undefined;
  /** The documents that keys may run; any where this is not given. */
  readonly listed?: readonly string[] | undefined;
}

/** An operation as it comes from the network. */
export interface RawOperation extends NamedQuery {
  readonly variables?: unknown;
}

export class Admission {
  readonly budget: CostBudget;
  /** Besides those of the specification. */
  readonly validationRules: readonly ValidationRule[];
  readonly #limits: ApiLimits;
  readonly #queries: PersistedQueries;

  constructor(limits: ApiLimits, rules: QueryRules = {}) {
    this.#limits = limits;
    this.budget = new CostBudget(limits.costPerSecondMax);
    this.#queries = new PersistedQueries(limits, rules.listed);
    this.validationRules = [
      documentLimits(limits),
      ...(rules.introspection === false ? [NoSchemaIntrospectionCustomRule] : []),
    ];
  }

  /**
   * The document to run, checked before the document or variables are read; undefined if the
   * request names none. Throws ApiError.
   */
  documentOf({ variables, ...named }: RawOperation, viewer: Principal): string | undefined {
    if (typeof named.query === 'string') refuseDeepDocument(named.query, this.#limits.queryBracketsMax);
    refuseUnfitInput(variables);
    return this.#queries.documentOf(named, viewer);
  }

  /** For a document that is valid. Throws COST_LIMIT, BAD_USER_INPUT or RATE_LIMITED. */
  admit(operation: Operation, viewer: Principal): Promise<BudgetState> {
    return this.budget.spend(viewer, refuseCostly(operation, this.#limits));
  }
}
