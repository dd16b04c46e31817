import type { z } from 'zod';
import { describeIssue, valueAt } from './describe-issue.js';
import { type IPPool, ipPool } from './ip-pool.js';
import { type NetworkAttachmentDefinition, networkAttachmentDefinition } from './network-attachment-definition.js';
import { repairTypes } from './repair-types.js';
import { type UnknownField, unknownFields } from './unknown-fields.js';
import { type VirtualMachine, virtualMachine } from './virtual-machine.js';
import { type VirtualMachineNetworkConfig, virtualMachineNetworkConfig } from './virtual-machine-network-config.js';

export type ApiObject = IPPool | VirtualMachineNetworkConfig | NetworkAttachmentDefinition | VirtualMachine;

/** One thing wrong with an object; `path` leads to it from the object's root. */
export interface ObjectProblem {
  readonly path: readonly (string | number)[];
  /** What is there, what is expected, what to write. */
  readonly message: string;
  /** True: nothing stands there. */
  readonly isMissing?: true;
}

export type ParsedObject =
  | {
      readonly ok: true;
      readonly object: ApiObject;
      /** Fields that the kind does not have: typing errors, mostly. */
      readonly unknownFields: readonly UnknownField[];
    }
  | {
      readonly ok: false;
      readonly problems: readonly ObjectProblem[];
      readonly unknownFields: readonly UnknownField[];
      /** The object with empty values where others were of a wrong type. Not for use: for finding what else is wrong with it. */
      readonly rest?: ApiObject;
    };

const SCHEMAS: Readonly<Record<string, z.ZodType<ApiObject>>> = {
  IPPool: ipPool,
  VirtualMachineNetworkConfig: virtualMachineNetworkConfig,
  NetworkAttachmentDefinition: networkAttachmentDefinition,
  VirtualMachine: virtualMachine,
};

/** The object that parsed YAML or JSON holds, or everything that its schema finds wrong with it. Never throws. */
export function parseObject(value: unknown): ParsedObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return failure({ path: [], message: 'is no object; write apiVersion, kind, metadata and spec' });
  }
  const kind = 'kind' in value && typeof value.kind === 'string' ? value.kind : '';
  const schema = Object.hasOwn(SCHEMAS, kind) ? SCHEMAS[kind] : undefined;
  if (schema === undefined) return failure({ path: ['kind'], message: `must be one of ${Object.keys(SCHEMAS).join(', ')}` });
  try {
    return parseBy(schema, value);
  } catch (error) {
    // The value is nested deeper than the stack is.
    if (error instanceof RangeError) return failure({ path: [], message: 'is nested too deeply; write it flatter' });
    throw error;
  }
}

function parseBy(schema: z.ZodType<ApiObject>, value: object): ParsedObject {
  const parsed = schema.safeParse(value);
  const unknown = unknownFields(schema, value);
  if (parsed.success) return { ok: true, object: parsed.data, unknownFields: unknown };
  const rest = repairTypes(schema, value);
  const problems = withoutEchoes(parsed.error.issues).map((issue) => toProblem(issue, value));
  return { ok: false, problems, unknownFields: unknown, ...(rest !== undefined && { rest }) };
}

function failure(problem: ObjectProblem): ParsedObject {
  return { ok: false, problems: [problem], unknownFields: [] };
}

/** A value of a wrong type is measured all the same, as text where a list is expected: only its type is worth a word. */
function withoutEchoes(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  const wrongTypes = new Set(issues.filter(({ code }) => code === 'invalid_type').map(({ path }) => path.join('.')));
  return issues.filter(({ code, path }) => code === 'invalid_type' || !wrongTypes.has(path.join('.')));
}

function toProblem(issue: z.core.$ZodIssue, value: unknown): ObjectProblem {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  const message = describeIssue(issue, value);
  return valueAt(value, path) === undefined ? { path, message, isMissing: true } : { path, message };
}
