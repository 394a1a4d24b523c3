/**
 * The other built-in kinds that operators and the local node write; their pods are in `pod-table.ts`.
 */
export const kindTable = `
PodTemplate: kind:s apiVersion:s metadata:ObjectMeta! template:PodTemplateSpec!
PodTemplateSpec: metadata:ObjectMeta! spec:PodSpec!
Service: kind:s apiVersion:s metadata:ObjectMeta! spec:ServiceSpec! status:ServiceStatus!
ServiceSpec: ports:[ServicePort]port+protocol~merge/port selector:{s}@atomic clusterIP:s clusterIPs:[s] type:s
    externalIPs:[s] sessionAffinity:s loadBalancerIP:s loadBalancerSourceRanges:[s] externalName:s
    externalTrafficPolicy:s healthCheckNodePort:n publishNotReadyAddresses:b
    sessionAffinityConfig:SessionAffinityConfig* ipFamilies:[s] ipFamilyPolicy:s* allocateLoadBalancerNodePorts:b*
    loadBalancerClass:s* internalTrafficPolicy:s* trafficDistribution:s*
ServicePort: name:s protocol:s=TCP appProtocol:s* port:n! targetPort:i! nodePort:n
SessionAffinityConfig: clientIP:ClientIPConfig*
ClientIPConfig: timeoutSeconds:n*
ServiceStatus: loadBalancer:LoadBalancerStatus! conditions:[Condition]type~merge/type
LoadBalancerStatus: ingress:[LoadBalancerIngress]
LoadBalancerIngress: ip:s hostname:s ipMode:s* ports:[PortStatus]
PortStatus: port:n! protocol:s! error:s*
Condition: type:s! status:s! observedGeneration:l lastTransitionTime:t! reason:s! message:s!
ConfigMap: kind:s apiVersion:s metadata:ObjectMeta! immutable:b* data:{s} binaryData:{s}
Secret: kind:s apiVersion:s metadata:ObjectMeta! immutable:b* data:{s} stringData:{s} type:s
ServiceAccount: kind:s apiVersion:s metadata:ObjectMeta! secrets:[ObjectReference]name~merge/name
    imagePullSecrets:[LocalObjectReference] automountServiceAccountToken:b*
ObjectReference@atomic: kind:s namespace:s name:s uid:s apiVersion:s resourceVersion:s fieldPath:s
PersistentVolumeClaim: kind:s apiVersion:s metadata:ObjectMeta! spec:PersistentVolumeClaimSpec!
    status:PersistentVolumeClaimStatus!
PersistentVolumeClaimStatus: phase:s accessModes:[s] capacity:{q}
    conditions:[PersistentVolumeClaimCondition]type~merge/type allocatedResources:{q} allocatedResourceStatuses:{s}
    currentVolumeAttributesClassName:s* modifyVolumeStatus:ModifyVolumeStatus*
PersistentVolumeClaimCondition: type:s! status:s! lastProbeTime:t! lastTransitionTime:t! reason:s message:s
ModifyVolumeStatus: targetVolumeAttributesClassName:s status:s!
Namespace: kind:s apiVersion:s metadata:ObjectMeta! spec:NamespaceSpec! status:NamespaceStatus!
NamespaceSpec: finalizers:[s]
NamespaceStatus: phase:s conditions:[NamespaceCondition]type~merge/type
NamespaceCondition: type:s! status:s! lastTransitionTime:t! reason:s message:s
Event: kind:s apiVersion:s metadata:ObjectMeta! involvedObject:ObjectReference! reason:s message:s source:EventSource!
    firstTimestamp:t! lastTimestamp:t! count:n type:s eventTime:t! series:EventSeries* action:s
    related:ObjectReference* reportingComponent:s! reportingInstance:s!
EventSource: component:s host:s
EventSeries: count:n lastObservedTime:t!
Node: kind:s apiVersion:s metadata:ObjectMeta! spec:NodeSpec! status:NodeStatus!
NodeSpec: podCIDR:s podCIDRs:[s]set~merge providerID:s unschedulable:b taints:[Taint] configSource:NodeConfigSource*
    externalID:s
Taint: key:s! value:s effect:s! timeAdded:t*
NodeConfigSource: configMap:ConfigMapNodeConfigSource*
ConfigMapNodeConfigSource: namespace:s! name:s! uid:s resourceVersion:s kubeletConfigKey:s!
NodeStatus: capacity:{q} allocatable:{q} phase:s conditions:[NodeCondition]type~merge/type
    addresses:[NodeAddress]type~merge/type daemonEndpoints:NodeDaemonEndpoints! nodeInfo:NodeSystemInfo!
    images:[ContainerImage] volumesInUse:[s] volumesAttached:[AttachedVolume] config:NodeConfigStatus*
    runtimeHandlers:[NodeRuntimeHandler] features:NodeFeatures* declaredFeatures:[s]
NodeCondition: type:s! status:s! lastHeartbeatTime:t! lastTransitionTime:t! reason:s message:s
NodeAddress: type:s! address:s!
NodeDaemonEndpoints: kubeletEndpoint:DaemonEndpoint!
DaemonEndpoint: Port:n!
NodeSystemInfo: machineID:s! systemUUID:s! bootID:s! kernelVersion:s! osImage:s! containerRuntimeVersion:s!
    kubeletVersion:s! kubeProxyVersion:s! operatingSystem:s! architecture:s! swap:NodeSwapStatus*
NodeSwapStatus: capacity:l*
ContainerImage: names:[s]! sizeBytes:l
AttachedVolume: name:s! devicePath:s!
NodeConfigStatus: assigned:NodeConfigSource* active:NodeConfigSource* lastKnownGood:NodeConfigSource* error:s
NodeRuntimeHandler: name:s! features:NodeRuntimeHandlerFeatures*
NodeRuntimeHandlerFeatures: recursiveReadOnlyMounts:b* userNamespaces:b*
NodeFeatures: supplementalGroupsPolicy:b*
Endpoints: kind:s apiVersion:s metadata:ObjectMeta! subsets:[EndpointSubset]
EndpointSubset: addresses:[EndpointAddress] notReadyAddresses:[EndpointAddress] ports:[EndpointPort]
EndpointAddress@atomic: ip:s! hostname:s nodeName:s* targetRef:ObjectReference*
EndpointPort@atomic: name:s port:n! protocol:s appProtocol:s*
StatefulSet: kind:s apiVersion:s metadata:ObjectMeta! spec:StatefulSetSpec! status:StatefulSetStatus!
StatefulSetSpec: replicas:n* selector:LabelSelector*! template:PodTemplateSpec!
    volumeClaimTemplates:[PersistentVolumeClaim] serviceName:s! podManagementPolicy:s
    updateStrategy:StatefulSetUpdateStrategy! revisionHistoryLimit:n* minReadySeconds:n
    persistentVolumeClaimRetentionPolicy:StatefulSetPersistentVolumeClaimRetentionPolicy*
    ordinals:StatefulSetOrdinals*
StatefulSetUpdateStrategy: type:s rollingUpdate:RollingUpdateStatefulSetStrategy*
RollingUpdateStatefulSetStrategy: partition:n* maxUnavailable:i*
StatefulSetPersistentVolumeClaimRetentionPolicy: whenDeleted:s whenScaled:s
StatefulSetOrdinals: start:n!
StatefulSetStatus: observedGeneration:l replicas:n! readyReplicas:n currentReplicas:n updatedReplicas:n
    currentRevision:s updateRevision:s collisionCount:n* conditions:[StatefulSetCondition]type~merge/type
    availableReplicas:n!
StatefulSetCondition: type:s! status:s! lastTransitionTime:t! reason:s message:s
Deployment: kind:s apiVersion:s metadata:ObjectMeta! spec:DeploymentSpec! status:DeploymentStatus!
DeploymentSpec: replicas:n* selector:LabelSelector*! template:PodTemplateSpec! strategy:DeploymentStrategy!~retainKeys
    minReadySeconds:n revisionHistoryLimit:n* paused:b progressDeadlineSeconds:n*
DeploymentStrategy: type:s rollingUpdate:RollingUpdateDeployment*
RollingUpdateDeployment: maxUnavailable:i* maxSurge:i*
DeploymentStatus: observedGeneration:l replicas:n updatedReplicas:n readyReplicas:n availableReplicas:n
    unavailableReplicas:n terminatingReplicas:n* conditions:[DeploymentCondition]type~merge/type collisionCount:n*
DeploymentCondition: type:s! status:s! lastUpdateTime:t! lastTransitionTime:t! reason:s message:s
ReplicaSet: kind:s apiVersion:s metadata:ObjectMeta! spec:ReplicaSetSpec! status:ReplicaSetStatus!
ReplicaSetSpec: replicas:n* minReadySeconds:n selector:LabelSelector*! template:PodTemplateSpec!
ReplicaSetStatus: replicas:n! fullyLabeledReplicas:n readyReplicas:n availableReplicas:n terminatingReplicas:n*
    observedGeneration:l conditions:[ReplicaSetCondition]type~merge/type
ReplicaSetCondition: type:s! status:s! lastTransitionTime:t! reason:s message:s
ControllerRevision: kind:s apiVersion:s metadata:ObjectMeta! data:x! revision:l!
Job: kind:s apiVersion:s metadata:ObjectMeta! spec:JobSpec! status:JobStatus!
JobSpec: parallelism:n* completions:n* activeDeadlineSeconds:l* podFailurePolicy:PodFailurePolicy*
    successPolicy:SuccessPolicy* backoffLimit:n* backoffLimitPerIndex:n* maxFailedIndexes:n* selector:LabelSelector*
    manualSelector:b* template:PodTemplateSpec! ttlSecondsAfterFinished:n* completionMode:s* suspend:b*
    podReplacementPolicy:s* managedBy:s*
PodFailurePolicy: rules:[PodFailurePolicyRule]!
PodFailurePolicyRule: action:s! onExitCodes:PodFailurePolicyOnExitCodesRequirement*
    onPodConditions:[PodFailurePolicyOnPodConditionsPattern]
PodFailurePolicyOnExitCodesRequirement: containerName:s* operator:s! values:[n]set!
PodFailurePolicyOnPodConditionsPattern: type:s! status:s!
SuccessPolicy: rules:[SuccessPolicyRule]!
SuccessPolicyRule: succeededIndexes:s* succeededCount:n*
JobStatus: conditions:[JobCondition]~merge/type startTime:t* completionTime:t* active:n succeeded:n failed:n
    terminating:n* completedIndexes:s failedIndexes:s* uncountedTerminatedPods:UncountedTerminatedPods* ready:n*
JobCondition: type:s! status:s! lastProbeTime:t! lastTransitionTime:t! reason:s message:s
UncountedTerminatedPods: succeeded:[s]set failed:[s]set
PodDisruptionBudget: kind:s apiVersion:s metadata:ObjectMeta! spec:PodDisruptionBudgetSpec!
    status:PodDisruptionBudgetStatus!
PodDisruptionBudgetSpec: minAvailable:i* selector:LabelSelector*~replace maxUnavailable:i*
    unhealthyPodEvictionPolicy:s*
PodDisruptionBudgetStatus: observedGeneration:l disruptedPods:{t} disruptionsAllowed:n! currentHealthy:n!
    desiredHealthy:n! expectedPods:n! conditions:[Condition]type~merge/type
Role: kind:s apiVersion:s metadata:ObjectMeta! rules:[PolicyRule]!
PolicyRule: verbs:[s]! apiGroups:[s] resources:[s] resourceNames:[s] nonResourceURLs:[s]
RoleBinding: kind:s apiVersion:s metadata:ObjectMeta! subjects:[Subject] roleRef:RoleRef!
Subject@atomic: kind:s! apiGroup:s name:s! namespace:s
RoleRef@atomic: apiGroup:s! kind:s! name:s!
ClusterRole: kind:s apiVersion:s metadata:ObjectMeta! rules:[PolicyRule]! aggregationRule:AggregationRule*
AggregationRule: clusterRoleSelectors:[LabelSelector]
ClusterRoleBinding: kind:s apiVersion:s metadata:ObjectMeta! subjects:[Subject] roleRef:RoleRef!
Lease: kind:s apiVersion:s metadata:ObjectMeta! spec:LeaseSpec!
LeaseSpec: holderIdentity:s* leaseDurationSeconds:n* acquireTime:t* renewTime:t* leaseTransitions:n* strategy:s*
    preferredHolder:s*
EventsEvent: kind:s apiVersion:s metadata:ObjectMeta! eventTime:t! series:EventsEventSeries* reportingController:s
    reportingInstance:s action:s reason:s regarding:ObjectReference! related:ObjectReference* note:s type:s
    deprecatedSource:EventSource! deprecatedFirstTimestamp:t! deprecatedLastTimestamp:t! deprecatedCount:n
EventsEventSeries: count:n! lastObservedTime:t!
Scale: kind:s apiVersion:s metadata:ObjectMeta! spec:ScaleSpec! status:ScaleStatus!
ScaleSpec: replicas:n
ScaleStatus: replicas:n! selector:s
TokenRequest: kind:s apiVersion:s metadata:ObjectMeta! spec:TokenRequestSpec! status:TokenRequestStatus!
TokenRequestSpec: audiences:[s]! expirationSeconds:l*! boundObjectRef:BoundObjectReference*!
BoundObjectReference: kind:s apiVersion:s name:s uid:s
TokenRequestStatus: token:s! expirationTimestamp:t!
`;
