import type { Cause } from '../api-error.js';
import type { ObjectMeta } from '../api-object.js';
import type { ResourceType } from '../resources/resource-type.js';

const subdomainText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const labelText =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const label1035Text =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const qualifiedText =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

interface Rule {
  readonly pattern: RegExp;
  readonly text: string;
  readonly maxLength: number;
}

const subdomain: Rule = {
  pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
  text: subdomainText,
  maxLength: 253,
};

const rules: Readonly<Record<Exclude<ResourceType['nameRule'], 'path-segment'>, Rule>> = {
  'dns-subdomain': subdomain,
  'dns-label': { pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, text: labelText, maxLength: 63 },
  'dns-1035-label': { pattern: /^[a-z]([-a-z0-9]*[a-z0-9])?$/, text: label1035Text, maxLength: 63 },
};

/** Errors in `metadata.name` of a new object. */
export function nameCauses(metadata: ObjectMeta, rule: ResourceType['nameRule']): readonly Cause[] {
  const name = metadata.name ?? '';
  if (name === '') {
    const message = 'Required value: name or generateName is required';
    return [{ reason: 'FieldValueRequired', message, field: 'metadata.name' }];
  }
  const texts = rule === 'path-segment' ? pathSegmentTexts(name) : ruleTexts(name, rules[rule]);
  return texts.map((text) => ({
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${JSON.stringify(name)}: ${text}`,
    field: 'metadata.name',
  }));
}

function ruleTexts(name: string, rule: Rule): readonly string[] {
  const texts: string[] = [];
  if (name.length > rule.maxLength) texts.push(`must be no more than ${rule.maxLength} characters`);
  if (!rule.pattern.test(name)) texts.push(rule.text);
  return texts;
}

function pathSegmentTexts(name: string): readonly string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%'].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
}

const namePart = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

const keyText = `a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`;

/** The error in a label key, an annotation key or a finalizer; undefined if it is valid. */
export function prefixedNameMessage(name: string): string | undefined {
  const parts = name.split('/');
  if (parts.length > 2) return keyText;
  const own = parts.at(-1) ?? '';
  return (parts.length === 2 ? prefixMessage(parts[0] ?? '') : undefined) ?? ownNameMessage(own);
}

function prefixMessage(prefix: string): string | undefined {
  if (prefix === '') return 'prefix part must be non-empty';
  return subdomain.pattern.test(prefix) ? undefined : `prefix part ${subdomainText}`;
}

function ownNameMessage(name: string): string | undefined {
  if (name === '') return 'name part must be non-empty';
  if (name.length > 63) return 'name part must be no more than 63 bytes';
  return namePart.test(name) ? undefined : qualifiedText;
}
