/**
 * Removes from a cluster what the controller created.
 *
 * @packageDocumentation
 */

export {
  type InstalledKind,
  UNINSTALL_PHASES,
  type UninstallPlan,
  type UninstallStep,
} from '../uninstall-plan/plan-uninstall.js';
export { Uninstall } from './uninstall.js';
