import { z } from 'zod';

/** How the management controllers of hosts are reached: fields that several kinds share. */

/** Longer than any name in Kubernetes. A limit keeps rules about the field cheap. */
const name = () => z.string().max(253).optional();

export const port = () => z.int().min(1).max(65_535).meta({ format: 'int32' });

export const secretFields = {
  secretName: name().describe(
    'The Secret with `username` and `password`. One with `tls.key` and `tls.crt` is a client certificate; `ca.crt` verifies the host. It has the label bmc.spidernet.io/host-credentials=true.',
  ),
  secretNamespace: name().describe('The namespace of that Secret.'),
};

/** A CEL expression: true if both fields of the Secret are set, or neither. @param at - the object that has them. */
export function bothOrNone(at: string): string {
  const isSet = (field: string) => `(has(${at}.${field}) && ${at}.${field} != '')`;
  return `${isSet('secretName')} == ${isSet('secretNamespace')}`;
}

export const BOTH_OR_NONE = 'SecretName and SecretNamespace belong together: write both, or none';
