import type { Cause } from '../../api-error.js';
import type { ApiObject, Json, JsonObject } from '../../api-object.js';
import { humanDuration } from '../../human-duration.js';
import { jsonEqual } from '../../json-equal.js';
import { section, textOf } from '../../json-parts.js';
import { builtInType, column, nameColumn } from '../built-in-type.js';
import { always, int32, microTime, struct, text, time } from '../go-type.js';
import type { ResourceType } from '../resource-type.js';

const objectReference = struct('ObjectReference', {
  kind: text,
  namespace: text,
  name: text,
  uid: text,
  apiVersion: text,
  resourceVersion: text,
  fieldPath: text,
});
const eventSource = struct('EventSource', { component: text, host: text });
const eventSeries = struct('EventSeries', { count: int32, lastObservedTime: always(microTime) });

/** The name of each field in core/v1 and in events.k8s.io/v1, where they differ. The stored form is that of core/v1. */
const renamed: readonly (readonly [core: string, events: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['reportingComponent', 'reportingController'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
];

function rename(object: ApiObject, names: ReadonlyMap<string, string>, apiVersion: string): ApiObject {
  const entries = Object.entries(object).map(([field, value]) => [names.get(field) ?? field, value]);
  return { ...(Object.fromEntries(entries) as ApiObject), apiVersion };
}

const toCore = new Map(renamed.map(([core, events]) => [events, core]));
const fromCore = new Map(renamed);

const invalid = (field: string, value: Json, why: string): Cause => ({
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${JSON.stringify(value)}: ${why}`,
  field,
});

/** An event is in the namespace of its object, or in `default` for a cluster-scoped object. */
function namespaceCauses(event: ApiObject): readonly Cause[] {
  const about = section(event, 'involvedObject')['namespace'] ?? '';
  const own = event.metadata.namespace ?? '';
  if (about === own || (about === '' && own === 'default')) return [];
  return [invalid('involvedObject.namespace', about, 'does not match event.namespace')];
}

/** The fields that events.k8s.io requires on create; core/v1 accepts almost anything. */
function modernCauses(event: ApiObject): readonly Cause[] {
  const causes: Cause[] = [];
  const { eventTime, type, message } = event;
  if (eventTime === undefined || eventTime === null)
    causes.push({ reason: 'FieldValueRequired', message: 'Required value', field: 'eventTime' });
  if (type !== 'Normal' && type !== 'Warning') causes.push(invalid('type', '', `has invalid value: ${textOf(type)}`));
  // The real server stops at the first two kinds of mistakes when there is no time.
  if (causes.length > 0 && (eventTime === undefined || eventTime === null)) return causes;
  if (textOf(event['reportingComponent']) === '') {
    causes.push({ reason: 'FieldValueRequired', message: 'Required value', field: 'reportingController' });
  }
  if (textOf(message).length > 1024) causes.push(invalid('message', '', 'can have at most 1024 characters'));
  return causes;
}

const immutable = [
  'involvedObject',
  'reason',
  'message',
  'type',
  'eventTime',
  'action',
  'reportingComponent',
  'reportingInstance',
];

/** In events.k8s.io only the series of an event may change. The real server checks twice and lists each cause twice. */
function immutableCauses(event: ApiObject, old: ApiObject): readonly Cause[] {
  const causes = immutable
    .filter((field) => !jsonEqual(event[field] ?? null, old[field] ?? null))
    .map((field) => invalid(field, event[field] ?? '', 'field is immutable'));
  return [...causes, ...causes];
}

const selectableFields = Object.fromEntries([
  ...['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map((field) => [
    `involvedObject.${field}`,
    (event: ApiObject) => textOf(section(event, 'involvedObject')[field]),
  ]),
  ...['reason', 'reportingComponent', 'type'].map((field) => [field, (event: ApiObject) => textOf(event[field])]),
  ['source', (event: ApiObject) => textOf(section(event, 'source')['component'] ?? event['reportingComponent'])],
] as [string, (event: ApiObject) => string][]);

const lastSeen = (event: ApiObject): Json =>
  event['lastTimestamp'] ?? event['eventTime'] ?? event.metadata['creationTimestamp'] ?? '';
const subject = (event: ApiObject): string => {
  const about: JsonObject = section(event, 'involvedObject');
  return `${textOf(about['kind']).toLowerCase()}/${textOf(about['name'])}`;
};

const columns = [
  column('Last Seen', 'string', (event) => ageOf(lastSeen(toCoreForm(event)))),
  column('Type', 'string', (event) => event['type'] ?? ''),
  column('Reason', 'string', (event) => event['reason'] ?? ''),
  column('Object', 'string', (event) => subject(toCoreForm(event))),
  column('Message', 'string', (event) => toCoreForm(event)['message'] ?? ''),
  { ...nameColumn, priority: 1 },
];

function toCoreForm(event: ApiObject): ApiObject {
  return event.apiVersion === 'v1' ? event : rename(event, toCore, 'v1');
}

function ageOf(timestamp: Json): string {
  if (typeof timestamp !== 'string' || timestamp === '') return '<unknown>';
  return humanDuration(Date.now() - Date.parse(timestamp));
}

/** Both groups store the same objects. */
const shared = {
  plural: 'events',
  kind: 'Event',
  shortNames: ['ev'],
  namespaced: true,
  storage: '/events',
  selectableFields,
  nameRule: 'path-segment' as const,
};

export const coreEvent = builtInType({
  ...shared,
  group: '',
  version: 'v1',
  fields: {
    involvedObject: always(objectReference),
    reason: text,
    message: text,
    source: always(eventSource),
    firstTimestamp: always(time),
    lastTimestamp: always(time),
    count: int32,
    type: text,
    eventTime: always(microTime),
    series: eventSeries,
    action: text,
    related: objectReference,
    reportingComponent: always(text),
    reportingInstance: always(text),
  },
  allColumns: columns,
  strategy: { validate: (event) => namespaceCauses(event) },
});

const modernShape = (object: ApiObject): ApiObject => event.strategy.canonical(object, undefined);

export const event: ResourceType = builtInType({
  ...shared,
  // The same code checks both, and it knows only the old names.
  reportedGroup: '',
  group: 'events.k8s.io',
  version: 'v1',
  fields: {
    eventTime: always(microTime),
    series: eventSeries,
    reportingController: text,
    reportingInstance: text,
    action: text,
    reason: text,
    regarding: always(objectReference),
    related: objectReference,
    note: text,
    type: text,
    deprecatedSource: always(eventSource),
    deprecatedFirstTimestamp: always(time),
    deprecatedLastTimestamp: always(time),
    deprecatedCount: int32,
  },
  allColumns: columns,
  conversion: {
    fromStored: (stored) => modernShape(rename(stored, fromCore, 'events.k8s.io/v1')),
    toStored: (object) => coreEvent.strategy.canonical(rename(object, toCore, 'v1'), undefined),
  },
  strategy: {
    validate: (object, old) => {
      const core = rename(object, toCore, 'v1');
      if (old !== undefined) return immutableCauses(core, rename(old, toCore, 'v1'));
      const modern = modernCauses(core);
      return modern.length > 0 ? modern : namespaceCauses(core);
    },
  },
});
