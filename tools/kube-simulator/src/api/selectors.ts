import type { ApiObject, JsonObject } from '../api-object.js';
import { badRequest } from '../failures.js';
import { textOf } from '../json-parts.js';
import type { ResourceType } from '../resources/resource-type.js';

export type Matches = (object: ApiObject) => boolean;

/** Returns which objects a list or watch selects. Throws ApiError 400 if a selector cannot be parsed. */
export function compileSelectors(
  type: ResourceType,
  selectors: { readonly labelSelector?: string | undefined; readonly fieldSelector?: string | undefined },
): Matches | undefined {
  const labels = parseLabelSelector(selectors.labelSelector ?? '');
  const fields = parseFieldSelector(type, selectors.fieldSelector ?? '');
  if (labels.length === 0 && fields.length === 0) return undefined;
  return (object) => {
    const own = (object.metadata['labels'] ?? {}) as JsonObject;
    return labels.every((matches) => matches(own)) && fields.every((matches) => matches(object));
  };
}

type LabelRequirement = (labels: JsonObject) => boolean;

const keyToken = /^[^\s,()=!<>]+/;

/** Reads `a=b,c!=d,e in (f,g),h,!i,j>5`, as k8s.io/apimachinery/pkg/labels does. */
class LabelSelectorParser {
  #rest: string;

  constructor(text: string) {
    this.#rest = text.trim();
  }

  parse(): readonly LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    while (this.#rest !== '') {
      requirements.push(this.#requirement());
      if (this.#rest === '') break;
      if (!this.#take(',')) throw badRequest(`found '${this.#next()}', expected: ',' or 'end of string'`);
    }
    return requirements;
  }

  #requirement(): LabelRequirement {
    if (this.#take('!')) {
      const absent = this.#key();
      return (labels) => labels[absent] === undefined;
    }
    const key = this.#key();
    const operator = /^(==|!=|=|>|<|in(?=[\s(])|notin(?=[\s(]))/.exec(this.#rest)?.[0];
    if (operator === undefined) return (labels) => labels[key] !== undefined;
    this.#skip(operator.length);
    return operator === 'in' || operator === 'notin' ? this.#set(key, operator) : this.#comparison(key, operator);
  }

  #comparison(key: string, operator: string): LabelRequirement {
    const value = this.#value();
    switch (operator) {
      case '!=':
        return (labels) => labels[key] !== value;
      case '>':
        return (labels) => labels[key] !== undefined && Number(labels[key]) > Number(value);
      case '<':
        return (labels) => labels[key] !== undefined && Number(labels[key]) < Number(value);
      default:
        return (labels) => labels[key] === value;
    }
  }

  #set(key: string, operator: 'in' | 'notin'): LabelRequirement {
    if (!this.#take('(')) throw badRequest(`unable to parse requirement: found '${this.#next()}' expected: '('`);
    const values: string[] = [];
    do values.push(this.#value());
    while (this.#take(','));
    if (!this.#take(')')) throw badRequest(`unable to parse requirement: found '${this.#next()}', expected: ',' or ')'`);
    if (operator === 'in') return (labels) => values.includes(textOf(labels[key])) && labels[key] !== undefined;
    return (labels) => labels[key] === undefined || !values.includes(textOf(labels[key]));
  }

  #key(): string {
    const key = keyToken.exec(this.#rest)?.[0];
    if (key === undefined)
      throw badRequest(`unable to parse requirement: found '${this.#next()}', expected: !, identifier, or 'end of string'`);
    this.#skip(key.length);
    return key;
  }

  #value(): string {
    const value = keyToken.exec(this.#rest)?.[0] ?? '';
    this.#skip(value.length);
    return value;
  }

  #next(): string {
    return /^(==|!=|[=!<>(),]|[^\s,()=!<>]+)/.exec(this.#rest)?.[0] ?? '';
  }

  #take(symbol: string): boolean {
    if (!this.#rest.startsWith(symbol)) return false;
    this.#skip(symbol.length);
    return true;
  }

  #skip(length: number): void {
    this.#rest = this.#rest.slice(length).trimStart();
  }
}

export function parseLabelSelector(text: string): readonly LabelRequirement[] {
  return new LabelSelectorParser(text).parse();
}

function parseFieldSelector(type: ResourceType, text: string): readonly Matches[] {
  return text
    .split(',')
    .filter((term) => term !== '')
    .map((term) => fieldRequirement(type, term));
}

function fieldRequirement(type: ResourceType, term: string): Matches {
  const match = /^(.*?)(==|!=|=)(.*)$/.exec(term);
  if (match === null) throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
  const [, field = '', operator, value = ''] = match;
  const read = fieldReader(type, field);
  if (read === undefined) throw badRequest(`field label not supported: ${field}`);
  return operator === '!=' ? (object) => read(object) !== value : (object) => read(object) === value;
}

function fieldReader(type: ResourceType, field: string): ((object: ApiObject) => string) | undefined {
  if (field === 'metadata.name') return (object) => object.metadata.name ?? '';
  if (field === 'metadata.namespace' && type.namespaced) return (object) => object.metadata.namespace ?? '';
  return Object.hasOwn(type.selectableFields, field) ? type.selectableFields[field] : undefined;
}
