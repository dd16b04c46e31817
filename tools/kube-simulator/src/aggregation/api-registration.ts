import type { ApiObject } from '../api-object.js';
import { objectsOf, section, textOf } from '../json-parts.js';

/** The server of a group and version, as an APIService describes it. */
export interface ApiRegistration {
  /** Name of the APIService: `<version>.<group>`. */
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly service: { readonly namespace: string; readonly name: string; readonly port: number };
  /** PEM. */
  readonly ca?: string;
  readonly skipsVerification: boolean;
  /** Condition Available is True. */
  readonly isAvailable: boolean;
}

/** The registration in an APIService; undefined if it has no Service, because this server serves its group. */
export const readRegistration = (object: ApiObject): ApiRegistration | undefined => {
  const spec = section(object, 'spec');
  const service = section(spec, 'service');
  if (textOf(service['name']) === '') return undefined;
  const bundle = textOf(spec['caBundle']);
  const port = service['port'];
  return {
    name: object.metadata.name ?? '',
    group: textOf(spec['group']),
    version: textOf(spec['version']),
    service: {
      namespace: textOf(service['namespace']),
      name: textOf(service['name']),
      port: typeof port === 'number' ? port : 443,
    },
    ...(bundle === '' ? {} : { ca: Buffer.from(bundle, 'base64').toString() }),
    skipsVerification: spec['insecureSkipTLSVerify'] === true,
    isAvailable: objectsOf(section(object, 'status')['conditions']).some(
      (condition) => condition['type'] === 'Available' && condition['status'] === 'True',
    ),
  };
};

/** The path of the discovery of the group and version; all its other paths are below. */
export const pathOf = ({ group, version }: Pick<ApiRegistration, 'group' | 'version'>): string => `/apis/${group}/${version}`;
