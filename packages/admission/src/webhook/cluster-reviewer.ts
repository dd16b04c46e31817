/** Applies the rules of admission to the requests of a webhook. */
import { keyOf } from '@vmdhcp/kube-runtime';
import {
  type AdmissionFacts,
  type AdmissionRequest,
  type AdmissionReview,
  defaultIpPool,
  reviewIpPool,
  reviewNetworkConfig,
  reviewUnfilledIpPool,
  reviewVirtualMachine,
  type StatusSubject,
  toAdmissionResponse,
  type VirtualMachineRules,
} from '@vmdhcp/reconciler';
import type { AdmissionAnswer, ReceivedReview } from './admission-message.js';
import type { AdmissionPath, AdmissionReviewer } from './admission-server.js';

export interface ClusterReviewerSettings {
  readonly facts: AdmissionFacts;
  readonly virtualMachines: VirtualMachineRules;
  /** The prefix of user names of ServiceAccounts in the namespace of the product. */
  readonly controllerUser: string;
  /** Decides about WolConfigs and the objects of bare-metal hosts, and allows all others; undefined if there are none. */
  readonly reviewFeature?: ((request: AdmissionRequest) => AdmissionReview) | undefined;
  /** Resolves when the facts are as new as this call. */
  readonly refresh: () => Promise<void>;
}

const ALLOWED: AdmissionAnswer = { response: { allowed: true } };

/** Other requests are allowed: only the rules of a resource decide about it. */
export function createClusterReviewer(settings: ClusterReviewerSettings): AdmissionReviewer {
  return async (path, received) => {
    const answer = review(path, received, settings);
    if (!answer.dependsOnOthers) return answer.decided;
    // The caches may not have an object that was just created: for example after `kubectl apply` of a network and its pool.
    await settings.refresh();
    return review(path, received, settings).decided;
  };
}

interface Reviewed {
  readonly decided: AdmissionAnswer;
  /** It is refused, but only because of other objects. */
  readonly dependsOnOthers: boolean;
}

function review(path: AdmissionPath, received: ReceivedReview, settings: ClusterReviewerSettings): Reviewed {
  const { resource, request } = received;
  if (path === 'defaulting')
    return { decided: resource === 'ippools' ? fillIn(request, settings) : ALLOWED, dependsOnOthers: false };
  const found = decide(received, settings);
  if (found === undefined) return { decided: ALLOWED, dependsOnOthers: false };
  // An object that is wrong by itself stays wrong, whatever other objects are.
  const dependsOnOthers = !found.allowed && found.problems.every((problem) => problem.dependsOnOthers);
  return { decided: { response: toAdmissionResponse(found, subjectOf(request)) }, dependsOnOthers };
}

function fillIn(request: AdmissionRequest, { facts }: ClusterReviewerSettings): AdmissionAnswer {
  const { patch, problems, warnings } = defaultIpPool(request, facts);
  const isFilledIn = problems.length === 0;
  const review = isFilledIn ? { allowed: true, problems, warnings } : reviewUnfilledIpPool(request, facts, problems);
  return { response: toAdmissionResponse(review, subjectOf(request)), ...(isFilledIn && { patch }) };
}

function subjectOf({ object, oldObject, name }: AdmissionRequest): StatusSubject {
  return { kind: (object ?? oldObject)?.kind ?? '', name };
}

function decide(received: ReceivedReview, settings: ClusterReviewerSettings) {
  const { resource, request } = received;
  const { facts, virtualMachines } = settings;
  switch (resource) {
    case 'ippools':
      return reviewIpPool(request, facts);
    case 'virtualmachinenetworkconfigs':
      return isOfController(received, settings) ? undefined : reviewNetworkConfig(request, facts);
    case 'virtualmachines':
      return reviewVirtualMachine(request, facts, virtualMachines);
    default:
      return settings.reviewFeature?.(request);
  }
}

/**
 * The owner of a virtual machine is responsible for what the controller writes for it. Any user can write that a virtual machine
 * owns a config, so the user must be from the controller's namespace; or the virtual machine exists, and the config has its name:
 * then it is the one that the controller keeps, and corrects.
 */
function isOfController({ request: { object }, username }: ReceivedReview, settings: ClusterReviewerSettings): boolean {
  const { facts, controllerUser } = settings;
  const owner = object?.metadata.ownerReferences?.find(({ kind }) => kind === 'VirtualMachine');
  if (object === undefined || owner === undefined) return false;
  if (username.startsWith(controllerUser)) return true;
  const machine = facts.virtualMachine(keyOf(object));
  return machine !== undefined && machine.metadata.name === owner.name && machine.metadata.uid === owner.uid;
}
