import type { BindingRecord } from '@vmdhcp/dhcp-allocator';
import { type KubernetesObject, type ResourcePort, readField } from '@vmdhcp/kube-runtime';
import type { LostLine } from '../bindings/opened-records.js';
import type { HeadContent } from './head-content.js';
import { countLines, readSliceText } from './slice-text.js';

/** Each slice has up to 256 KiB. */
const PAGE_OBJECTS = 20;
/** Without their records. */
const PAGE_VERSIONS = 500;

/** A slice whose records are not all valid. */
export interface DamagedSlice {
  readonly name: string;
  /** Undefined if it does not exist. */
  readonly text: string | undefined;
  readonly lost: readonly LostLine[];
}

export interface SlicesReading {
  /** Versions of the slices that were read, by name. */
  readonly versions: ReadonlyMap<string, string>;
  readonly records: number;
  readonly damaged: readonly DamagedSlice[];
}

/** Passes on the records of these slices, in order. @throws the error of the API client. */
export async function readSlices(
  slices: Pick<ResourcePort<KubernetesObject>, 'list'>,
  head: HeadContent & { readonly name: string },
  onRecord: (record: BindingRecord) => void,
): Promise<SlicesReading> {
  const wanted = new Set(head.slices);
  const texts = new Map<string, string>();
  const versions = new Map<string, string>();
  for await (const { metadata, spec } of listed(slices, PAGE_OBJECTS)) {
    if (!wanted.has(metadata.name)) continue;
    const text = readField(spec, 'records');
    texts.set(metadata.name, typeof text === 'string' ? text : '');
    versions.set(metadata.name, metadata.resourceVersion ?? '');
  }
  const damaged: DamagedSlice[] = [];
  let records = 0;
  const read = (name: string, text: string | undefined) => {
    const lost = text === undefined ? [] : readSliceText(text, onRecord);
    records += text === undefined ? 0 : countLines(text);
    if (text === undefined || lost.length > 0) damaged.push({ name, text, lost });
  };
  for (const name of head.slices) {
    read(name, texts.get(name));
    // The text is as large as the table made from it.
    texts.delete(name);
  }
  read(head.name, head.records);
  return { versions, records, damaged };
}

/** The existing slices, without records. */
export function listVersions(versions: Pick<ResourcePort<KubernetesObject>, 'list'>): AsyncGenerator<KubernetesObject> {
  return listed(versions, PAGE_VERSIONS);
}

async function* listed(
  port: Pick<ResourcePort<KubernetesObject>, 'list'>,
  limit: number,
): AsyncGenerator<KubernetesObject, void, undefined> {
  let continueToken: string | undefined;
  do {
    const page = await port.list({ limit, ...(continueToken !== undefined && { continueToken }) });
    yield* page.items;
    continueToken = page.continueToken;
  } while (continueToken !== undefined);
}
