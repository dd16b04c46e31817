/** Plans the requests for a power action and for a boot from the network, as values. */
import { linkAt, listAt, type RedfishResource, textAt, textsAt, valueAt } from '../resource/resource.js';
import type { ResetType } from './reset-type.js';

/** A request, or why the system does not offer it. */
export type ActionPlan =
  | { readonly ok: true; readonly link: string; readonly body: RedfishResource }
  | { readonly ok: false; readonly problem: string };

const RESET = ['Actions', '#ComputerSystem.Reset'] as const;

/** The link to the description of the parameters of a reset; undefined if the system has none, or names the types itself. */
export function resetInfoLink(system: RedfishResource): string | undefined {
  if (textsAt(system, ...RESET, 'ResetType@Redfish.AllowableValues') !== undefined) return undefined;
  return textAt(system, ...RESET, '@Redfish.ActionInfo');
}

/**
 * A power action of a system. No type replaces another one.
 *
 * @param actionInfo - the resource of `resetInfoLink`, if it was read.
 */
export function planReset(system: RedfishResource, type: ResetType, actionInfo?: RedfishResource): ActionPlan {
  const link = textAt(system, ...RESET, 'target');
  if (link === undefined) return { ok: false, problem: 'it has no reset action' };
  const allowed = textsAt(system, ...RESET, 'ResetType@Redfish.AllowableValues') ?? allowedBy(actionInfo);
  if (allowed !== undefined && !allowed.includes(type)) return { ok: false, problem: notAllowed('reset type', type, allowed) };
  return { ok: true, link, body: { ResetType: type } };
}

function allowedBy(actionInfo: RedfishResource | undefined): readonly string[] | undefined {
  const parameter = listAt(actionInfo, 'Parameters').find((one) => textAt(one, 'Name') === 'ResetType');
  return textsAt(parameter, 'AllowableValues');
}

/** The next boot of a system from the network, once. A system that boots by UEFI keeps that mode; without it some services fall back to legacy. */
export function planNetworkBoot(system: RedfishResource): ActionPlan {
  const link = linkAt(system);
  const boot = valueAt(system, 'Boot');
  if (link === undefined || boot === undefined) return { ok: false, problem: 'it has no boot override' };
  const targets = textsAt(boot, 'BootSourceOverrideTarget@Redfish.AllowableValues');
  if (targets !== undefined && !targets.includes('Pxe')) return { ok: false, problem: notAllowed('boot target', 'Pxe', targets) };
  const times = textsAt(boot, 'BootSourceOverrideEnabled@Redfish.AllowableValues');
  if (times !== undefined && !times.includes('Once')) return { ok: false, problem: notAllowed('boot override', 'Once', times) };
  const isUefi = textAt(boot, 'BootSourceOverrideMode') === 'UEFI';
  const override = { BootSourceOverrideEnabled: 'Once', BootSourceOverrideTarget: 'Pxe' };
  return { ok: true, link, body: { Boot: { ...override, ...(isUefi && { BootSourceOverrideMode: 'UEFI' }) } } };
}

function notAllowed(what: string, value: string, allowed: readonly string[]): string {
  const names = allowed.length === 0 ? 'none' : allowed.slice(0, 20).join(', ');
  return `it does not offer ${what} ${value}; it offers ${names}`;
}
