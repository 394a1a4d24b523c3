/** The built-in kinds that are served, as a table. docs/served.md is made from it. */
import { type JsonObject, integerOf, objectOf, textOf, textsOf } from '../object/draft.ts';
import { dnsLabel } from '../object/names.ts';
import { allocateService } from '../services/allocate.ts';
import { heldBy } from '../services/service.ts';
import { serviceErrors } from '../services/service-errors.ts';
import { serviceWarnings } from '../services/service-warnings.ts';
import { claimErrors, claimWarnings, volumeErrors } from '../values/claim.ts';
import { jobErrors } from '../values/job.ts';
import {
  budgetErrors,
  endpointsErrors,
  eventErrors,
  leaseErrors,
  priorityClassErrors,
  revisionErrors,
  sliceErrors,
  storageClassErrors,
} from '../values/others.ts';
import { podErrors } from '../values/pod.ts';
import { podWarnings, statefulSetWarnings, workloadWarnings } from '../values/pod-warnings.ts';
import { deploymentErrors, replicaSetErrors, statefulSetErrors } from '../values/workloads.ts';
import { customResourceDefinitions } from './crd.ts';
import { configMapErrors, secretErrors } from './data-rules.ts';
import {
  defaultEndpoints,
  defaultEvent,
  defaultNamespace,
  defaultPriorityClass,
  defaultSecret,
  defaultService,
  defaultSlice,
  defaultStorageClass,
  defaultVolume,
  labelNamespace,
  prepareSlice,
} from './defaults/others.ts';
import { admitPod, defaultPod, qosClass } from './defaults/pods.ts';
import {
  defaultClaim,
  defaultDeployment,
  defaultJob,
  defaultReplicaSet,
  defaultStatefulSet,
  selectByUid,
} from './defaults/workloads.ts';
import { ALL_VERBS, builtin } from './describe.ts';
import { eventConversion } from './events.ts';
import type { Kind, ScalePaths } from './kind.ts';
import { policyKinds } from './policies.ts';
import { rbacKinds } from './rbac.ts';

const IMMORTAL = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
const REPLICAS: ScalePaths = { spec: '.spec.replicas', status: '.status.replicas', selector: '.spec.selector' };
const EVENT_FIELDS = [
  'involvedObject.kind',
  'involvedObject.namespace',
  'involvedObject.name',
  'involvedObject.uid',
  'involvedObject.apiVersion',
  'involvedObject.resourceVersion',
  'involvedObject.fieldPath',
  'reason',
  'reportingComponent',
  'source',
  'type',
];

/** What a client says of the status of a new object is dropped. */
const reset =
  (status: () => JsonObject = () => ({})): NonNullable<Kind['prepareCreate']> =>
  (object) => {
    object.status = status();
  };

const core: readonly Kind[] = [
  builtin('', {
    plural: 'namespaces',
    kind: 'Namespace',
    namespaced: false,
    shortNames: ['ns'],
    verbs: ALL_VERBS.filter((verb) => verb !== 'deletecollection'),
    version: { status: true, fields: ['status.phase'], others: ['finalize'] },
    nameRule: dnsLabel,
    returnsDeleted: true,
    defaults: labelNamespace,
    prepareCreate(namespace) {
      namespace.status = { phase: 'Active' };
      defaultNamespace(namespace);
      labelNamespace(namespace);
    },
    prepareUpdate(namespace, old, { subresource }) {
      if (subresource === '') namespace.spec = old.spec ?? {};
      if (textsOf(objectOf(namespace.spec).finalizers).length === 0) namespace.spec = {};
      labelNamespace(namespace);
    },
    beginDelete(namespace, now) {
      namespace.metadata.deletionTimestamp = now;
      namespace.status = { ...objectOf(namespace.status), phase: 'Terminating' };
    },
    isHeld: (namespace) => textsOf(objectOf(namespace.spec).finalizers).length > 0,
    refuseDelete: (name) => (IMMORTAL.includes(name) ? 'this namespace may not be deleted' : undefined),
  }),
  builtin('', {
    plural: 'pods',
    kind: 'Pod',
    shortNames: ['po'],
    categories: ['all'],
    version: {
      status: true,
      fields: [
        'spec.nodeName',
        'spec.restartPolicy',
        'spec.schedulerName',
        'spec.serviceAccountName',
        'spec.hostNetwork',
        'status.phase',
        'status.podIP',
        'status.podIPs',
        'status.nominatedNodeName',
      ],
      connects: [
        { name: 'exec', kind: 'PodExecOptions', verbs: ['create', 'get'] },
        { name: 'log', kind: 'Pod', verbs: ['get'] },
      ],
    },
    returnsDeleted: true,
    generation: 'spec',
    statusKeeps: ['ownerReferences'],
    defaults: defaultPod,
    validate: podErrors,
    warn: podWarnings,
    prepareCreate(pod) {
      admitPod(pod);
      pod.status = { phase: 'Pending', qosClass: qosClass(pod) };
    },
    prepareUpdate(pod, old, { subresource }) {
      if (subresource !== 'status') return;
      const status = objectOf(pod.status);
      pod.status = { ...status, qosClass: status.qosClass ?? objectOf(old.status).qosClass ?? qosClass(pod) };
    },
    grace(pod, wanted) {
      const spec = objectOf(pod.spec);
      const phase = textOf(objectOf(pod.status).phase);
      if (textOf(spec.nodeName) === '' || phase === 'Failed' || phase === 'Succeeded') return 0;
      const period = wanted ?? integerOf(spec.terminationGracePeriodSeconds) ?? 0;
      return period < 0 ? 1 : period;
    },
  }),
  builtin('', {
    plural: 'services',
    kind: 'Service',
    shortNames: ['svc'],
    categories: ['all'],
    version: { status: true, fields: ['spec.clusterIP', 'spec.type'] },
    registryPath: 'services/specs',
    nameRule: dnsLabel,
    createOnUpdate: true,
    returnsDeleted: true,
    defaults: defaultService,
    prepareCreate: reset(() => ({ loadBalancer: {} })),
    allocate: allocateService,
    holds: heldBy,
    validate: serviceErrors,
    warn: serviceWarnings,
  }),
  builtin('', {
    plural: 'endpoints',
    kind: 'Endpoints',
    singular: 'endpoints',
    shortNames: ['ep'],
    registryPath: 'services/endpoints',
    defaults: defaultEndpoints,
    validate: endpointsErrors,
    version: { deprecationWarning: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice' },
    createOnUpdate: true,
  }),
  builtin('', { plural: 'configmaps', kind: 'ConfigMap', shortNames: ['cm'], validate: configMapErrors }),
  builtin('', {
    plural: 'secrets',
    kind: 'Secret',
    version: { fields: ['type'] },
    defaults: defaultSecret,
    validate: secretErrors,
  }),
  builtin('', { plural: 'serviceaccounts', kind: 'ServiceAccount', shortNames: ['sa'], returnsDeleted: true }),
  builtin('', {
    plural: 'persistentvolumes',
    kind: 'PersistentVolume',
    namespaced: false,
    shortNames: ['pv'],
    version: { status: true },
    returnsDeleted: true,
    defaults: defaultVolume,
    validate: volumeErrors,
    prepareCreate(volume, { now }) {
      volume.status = { phase: 'Pending', lastPhaseTransitionTime: now };
    },
  }),
  builtin('', {
    plural: 'persistentvolumeclaims',
    kind: 'PersistentVolumeClaim',
    shortNames: ['pvc'],
    version: { status: true },
    returnsDeleted: true,
    defaults: defaultClaim,
    validate: claimErrors,
    warn: claimWarnings,
    prepareCreate: reset(() => ({ phase: 'Pending' })),
  }),
  builtin('', {
    plural: 'events',
    kind: 'Event',
    shortNames: ['ev'],
    version: { fields: EVENT_FIELDS },
    defaults: defaultEvent,
    validate: eventErrors,
    createOnUpdate: true,
    dependents: 'unsupported',
  }),
  builtin('', {
    plural: 'nodes',
    kind: 'Node',
    namespaced: false,
    shortNames: ['no'],
    version: { status: true, fields: ['spec.unschedulable'] },
    registryPath: 'minions',
  }),
];

const others: readonly Kind[] = [
  builtin('events.k8s.io', {
    plural: 'events',
    kind: 'Event',
    shortNames: ['ev'],
    stored: 'events',
    version: { conversion: eventConversion, fields: [] },
    createOnUpdate: true,
    dependents: 'unsupported',
  }),
  builtin('apps', {
    plural: 'statefulsets',
    kind: 'StatefulSet',
    shortNames: ['sts'],
    categories: ['all'],
    version: { status: true, scale: REPLICAS },
    generation: 'spec',
    defaults: defaultStatefulSet,
    nameRule: dnsLabel,
    validate: statefulSetErrors,
    warn: statefulSetWarnings,
    prepareCreate: reset(() => ({ replicas: 0, availableReplicas: 0 })),
  }),
  builtin('apps', {
    plural: 'deployments',
    kind: 'Deployment',
    shortNames: ['deploy'],
    categories: ['all'],
    version: { status: true, scale: REPLICAS },
    generation: 'spec',
    statusKeeps: ['labels'],
    defaults: defaultDeployment,
    validate: deploymentErrors,
    warn: workloadWarnings,
    prepareCreate: reset(),
  }),
  builtin('apps', {
    plural: 'replicasets',
    kind: 'ReplicaSet',
    shortNames: ['rs'],
    categories: ['all'],
    version: { status: true, scale: REPLICAS },
    generation: 'spec',
    defaults: defaultReplicaSet,
    validate: replicaSetErrors,
    warn: workloadWarnings,
    prepareCreate: reset(() => ({ replicas: 0 })),
  }),
  builtin('apps', { plural: 'controllerrevisions', kind: 'ControllerRevision', validate: revisionErrors }),
  builtin('batch', {
    plural: 'jobs',
    kind: 'Job',
    categories: ['all'],
    version: { status: true, fields: ['status.successful'] },
    generation: 'spec',
    dependents: 'orphan',
    warnDelete:
      'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
    fieldProblem: (field) => `field label ${JSON.stringify(field)} not supported for Job`,
    defaults: defaultJob,
    validate: jobErrors,
    warn: workloadWarnings,
    prepareCreate(job) {
      job.status = {};
      selectByUid(job);
    },
  }),
  builtin('coordination.k8s.io', {
    plural: 'leases',
    kind: 'Lease',
    validate: leaseErrors,
    createOnUpdate: true,
    unconditionalUpdate: false,
  }),
  builtin('discovery.k8s.io', {
    plural: 'endpointslices',
    kind: 'EndpointSlice',
    generation: 'content',
    defaults: defaultSlice,
    prepareCreate: prepareSlice,
    prepareUpdate: prepareSlice,
    validate: sliceErrors,
  }),
  builtin('policy', {
    plural: 'poddisruptionbudgets',
    kind: 'PodDisruptionBudget',
    shortNames: ['pdb'],
    version: { status: true },
    validate: budgetErrors,
    unconditionalUpdate: false,
    generation: 'spec',
    prepareCreate: reset(() => ({ disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 })),
  }),
  builtin('scheduling.k8s.io', {
    plural: 'priorityclasses',
    kind: 'PriorityClass',
    namespaced: false,
    shortNames: ['pc'],
    generation: 'content',
    defaults: defaultPriorityClass,
    validate: priorityClassErrors,
  }),
  builtin('storage.k8s.io', {
    plural: 'storageclasses',
    kind: 'StorageClass',
    namespaced: false,
    shortNames: ['sc'],
    returnsDeleted: true,
    defaults: defaultStorageClass,
    validate: storageClassErrors,
  }),
  ...rbacKinds,
];

export const builtinKinds: readonly Kind[] = [...core, ...others, ...policyKinds, customResourceDefinitions];
