import type { z } from 'zod';
import { type IPPool, ipPool } from './ip-pool.js';
import { type NetworkAttachmentDefinition, networkAttachmentDefinition } from './network-attachment-definition.js';
import { type VirtualMachine, virtualMachine } from './virtual-machine.js';
import { type VirtualMachineNetworkConfig, virtualMachineNetworkConfig } from './virtual-machine-network-config.js';

export type ApiObject = IPPool | VirtualMachineNetworkConfig | NetworkAttachmentDefinition | VirtualMachine;

/** One thing wrong with an object; `path` leads to it from the object's root. */
export interface ObjectProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export type ParsedObject =
  | {
      readonly ok: true;
      readonly object: ApiObject /** Fields nobody knows: typing errors, mostly. */;
      readonly unknownFields: readonly ObjectProblem[];
    }
  | { readonly ok: false; readonly problems: readonly ObjectProblem[] };

const SCHEMAS: Readonly<Record<string, z.ZodType<ApiObject>>> = {
  IPPool: ipPool,
  VirtualMachineNetworkConfig: virtualMachineNetworkConfig,
  NetworkAttachmentDefinition: networkAttachmentDefinition,
  VirtualMachine: virtualMachine,
};

/** The object that parsed YAML or JSON holds, or everything that is wrong with it. Never throws. */
export function parseObject(value: unknown): ParsedObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { ok: false, problems: [{ path: [], message: 'is no object; write apiVersion, kind, metadata and spec' }] };
  }
  const kind = 'kind' in value && typeof value.kind === 'string' ? value.kind : '';
  const schema = Object.hasOwn(SCHEMAS, kind) ? SCHEMAS[kind] : undefined;
  if (schema === undefined) {
    return { ok: false, problems: [{ path: ['kind'], message: `must be one of ${Object.keys(SCHEMAS).join(', ')}` }] };
  }
  const parsed = safeParse(schema, value);
  if (parsed === undefined) return { ok: false, problems: [{ path: [], message: 'is nested too deeply; write it flatter' }] };
  if (!parsed.success) return { ok: false, problems: parsed.error.issues.map(toProblem) };
  return { ok: true, object: parsed.data, unknownFields: unknownFields(value, parsed.data, []) };
}

/** Undefined where the value is nested deeper than the stack is. */
function safeParse(schema: z.ZodType<ApiObject>, value: unknown): z.ZodSafeParseResult<ApiObject> | undefined {
  try {
    return schema.safeParse(value);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function toProblem(issue: z.core.$ZodIssue): ObjectProblem {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  return { path, message: issue.message };
}

/** What parsing dropped. */
function unknownFields(given: unknown, kept: unknown, path: readonly (string | number)[]): ObjectProblem[] {
  if (Array.isArray(given) && Array.isArray(kept)) {
    return given.flatMap((item, index) => unknownFields(item, kept[index], [...path, index]));
  }
  if (!isRecord(given) || !isRecord(kept)) return [];
  return Object.entries(given).flatMap(([key, value]) => {
    if (Object.hasOwn(kept, key)) return unknownFields(value, kept[key], [...path, key]);
    return [{ path: [...path, key], message: 'is no known field; correct its name or remove it' }];
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
