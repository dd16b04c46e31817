import { notAcceptable } from '../failures.js';

/** The form of an answer. */
export interface AnswerForm {
  readonly media: 'json' | 'yaml';
  readonly as: 'object' | 'table' | 'partial';
  /** `v1`, or `v1beta1` for old clients. */
  readonly metaVersion: string;
}

const plainJson: AnswerForm = { media: 'json', as: 'object', metaVersion: 'v1' };

/** Returns the first form that the client accepts and this server has. Throws ApiError 406 when there is none. */
export function negotiate(accept: string | undefined): AnswerForm {
  if (accept === undefined || accept === '' || accept === 'application/json') return plainJson;
  for (const clause of accept.split(',')) {
    const form = formOf(clause);
    if (form !== undefined) return form;
  }
  throw notAcceptable();
}

function formOf(clause: string): AnswerForm | undefined {
  const [name = '', ...parameters] = clause.split(';').map((part) => part.trim());
  const media = medias[name];
  if (media === undefined) return undefined;
  const values = new Map(parameters.map((parameter) => parameter.split('=', 2) as [string, string]));
  const wanted = values.get('as');
  if (wanted === undefined) return { ...plainJson, media };
  const as = forms[wanted];
  const metaVersion = values.get('v') ?? '';
  const isMeta = values.get('g') === 'meta.k8s.io' && (metaVersion === 'v1' || metaVersion === 'v1beta1');
  return as === undefined || !isMeta ? undefined : { media, as, metaVersion };
}

const forms: Readonly<Record<string, AnswerForm['as']>> = {
  Table: 'table',
  PartialObjectMetadata: 'partial',
  PartialObjectMetadataList: 'partial',
};

const medias: Readonly<Record<string, AnswerForm['media']>> = {
  'application/json': 'json',
  'application/yaml': 'yaml',
  '*/*': 'json',
  'application/*': 'json',
};

/** True when the client takes the aggregated form of discovery. */
export function acceptsAggregatedDiscovery(accept: string | undefined): boolean {
  return (
    accept?.split(',').some((clause) => /;\s*v=v2\s*;/.test(`${clause};`) && clause.includes('as=APIGroupDiscoveryList')) ?? false
  );
}
