import { z } from 'zod';
import { objectMeta } from './object-meta.js';

/** The parts of a KubeVirt VirtualMachine that are read: its interfaces and networks. Everything else is left as it is. */
export const virtualMachine = z.object({
  apiVersion: z.literal('kubevirt.io/v1'),
  kind: z.literal('VirtualMachine'),
  metadata: objectMeta,
  spec: z.looseObject({
    template: z
      .looseObject({
        spec: z
          .looseObject({
            domain: z
              .looseObject({
                devices: z
                  .looseObject({
                    interfaces: z.array(z.looseObject({ name: z.string(), macAddress: z.string().optional() })).optional(),
                  })
                  .optional(),
              })
              .optional(),
            networks: z
              .array(z.looseObject({ name: z.string(), multus: z.looseObject({ networkName: z.string() }).optional() }))
              .optional(),
          })
          .optional(),
      })
      .nullish(),
  }),
});
/** A virtual machine of KubeVirt, as far as DHCP needs it. */
export type VirtualMachine = z.infer<typeof virtualMachine>;
