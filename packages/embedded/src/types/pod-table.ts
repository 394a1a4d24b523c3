/**
 * Pod, ObjectMeta and all that belongs to them, as Kubernetes 1.36 has it: the facts of its published OpenAPI (list types,
 * keys, defaults) and of its JSON form (what is written when empty). `table.ts` says how to read it.
 */
export const podTable = `
Pod: kind:s apiVersion:s metadata:ObjectMeta! spec:PodSpec! status:PodStatus!
ObjectMeta: name:s generateName:s namespace:s selfLink:s uid:s resourceVersion:s generation:l creationTimestamp:t
    deletionTimestamp:t* deletionGracePeriodSeconds:l* labels:{s} annotations:{s}
    ownerReferences:[OwnerReference]uid~merge/uid finalizers:[s]set~merge managedFields:[ManagedFieldsEntry]
OwnerReference@atomic: apiVersion:s! kind:s! name:s! uid:s! controller:b* blockOwnerDeletion:b*
ManagedFieldsEntry: manager:s operation:s apiVersion:s time:t* fieldsType:s fieldsV1:o* subresource:s
PodSpec: volumes:[Volume]name~merge+retainKeys/name initContainers:[Container]name~merge/name
    containers:[Container]name!~merge/name ephemeralContainers:[EphemeralContainer]name~merge/name restartPolicy:s
    terminationGracePeriodSeconds:l* activeDeadlineSeconds:l* dnsPolicy:s nodeSelector:{s}@atomic serviceAccountName:s
    serviceAccount:s automountServiceAccountToken:b* nodeName:s hostNetwork:b hostPID:b hostIPC:b
    shareProcessNamespace:b* securityContext:PodSecurityContext*
    imagePullSecrets:[LocalObjectReference]name~merge/name hostname:s subdomain:s affinity:Affinity* schedulerName:s
    tolerations:[Toleration] hostAliases:[HostAlias]ip~merge/ip priorityClassName:s priority:n*
    dnsConfig:PodDNSConfig* readinessGates:[PodReadinessGate] runtimeClassName:s* enableServiceLinks:b*
    preemptionPolicy:s* overhead:{q}
    topologySpreadConstraints:[TopologySpreadConstraint]topologyKey+whenUnsatisfiable~merge/topologyKey
    setHostnameAsFQDN:b* os:PodOS* hostUsers:b* schedulingGates:[PodSchedulingGate]name~merge/name
    resourceClaims:[PodResourceClaim]name~merge+retainKeys/name resources:ResourceRequirements* hostnameOverride:s*
    schedulingGroup:PodSchedulingGroup*
Volume: name:s! hostPath:HostPathVolumeSource* emptyDir:EmptyDirVolumeSource*
    gcePersistentDisk:GCEPersistentDiskVolumeSource* awsElasticBlockStore:AWSElasticBlockStoreVolumeSource*
    gitRepo:GitRepoVolumeSource* secret:SecretVolumeSource* nfs:NFSVolumeSource* iscsi:ISCSIVolumeSource*
    glusterfs:GlusterfsVolumeSource* persistentVolumeClaim:PersistentVolumeClaimVolumeSource* rbd:RBDVolumeSource*
    flexVolume:FlexVolumeSource* cinder:CinderVolumeSource* cephfs:CephFSVolumeSource* flocker:FlockerVolumeSource*
    downwardAPI:DownwardAPIVolumeSource* fc:FCVolumeSource* azureFile:AzureFileVolumeSource*
    configMap:ConfigMapVolumeSource* vsphereVolume:VsphereVirtualDiskVolumeSource* quobyte:QuobyteVolumeSource*
    azureDisk:AzureDiskVolumeSource* photonPersistentDisk:PhotonPersistentDiskVolumeSource*
    projected:ProjectedVolumeSource* portworxVolume:PortworxVolumeSource* scaleIO:ScaleIOVolumeSource*
    storageos:StorageOSVolumeSource* csi:CSIVolumeSource* ephemeral:EphemeralVolumeSource* image:ImageVolumeSource*
HostPathVolumeSource: path:s! type:s*
EmptyDirVolumeSource: medium:s sizeLimit:q*
GCEPersistentDiskVolumeSource: pdName:s! fsType:s partition:n readOnly:b
AWSElasticBlockStoreVolumeSource: volumeID:s! fsType:s partition:n readOnly:b
GitRepoVolumeSource: repository:s! revision:s directory:s
SecretVolumeSource: secretName:s items:[KeyToPath] defaultMode:n* optional:b*
KeyToPath: key:s! path:s! mode:n*
NFSVolumeSource: server:s! path:s! readOnly:b
ISCSIVolumeSource: targetPortal:s! iqn:s! lun:n! iscsiInterface:s=default fsType:s readOnly:b portals:[s]
    chapAuthDiscovery:b chapAuthSession:b secretRef:LocalObjectReference* initiatorName:s*
LocalObjectReference@atomic: name:s=
GlusterfsVolumeSource: endpoints:s! path:s! readOnly:b
PersistentVolumeClaimVolumeSource: claimName:s! readOnly:b
RBDVolumeSource: monitors:[s]! image:s! fsType:s pool:s=rbd user:s=admin keyring:s=/etc/ceph/keyring
    secretRef:LocalObjectReference* readOnly:b
FlexVolumeSource: driver:s! fsType:s secretRef:LocalObjectReference* readOnly:b options:{s}
CinderVolumeSource: volumeID:s! fsType:s readOnly:b secretRef:LocalObjectReference*
CephFSVolumeSource: monitors:[s]! path:s user:s secretFile:s secretRef:LocalObjectReference* readOnly:b
FlockerVolumeSource: datasetName:s datasetUUID:s
DownwardAPIVolumeSource: items:[DownwardAPIVolumeFile] defaultMode:n*
DownwardAPIVolumeFile: path:s! fieldRef:ObjectFieldSelector* resourceFieldRef:ResourceFieldSelector* mode:n*
ObjectFieldSelector@atomic: apiVersion:s fieldPath:s!
ResourceFieldSelector@atomic: containerName:s resource:s! divisor:q!
FCVolumeSource: targetWWNs:[s] lun:n* fsType:s readOnly:b wwids:[s]
AzureFileVolumeSource: secretName:s! shareName:s! readOnly:b
ConfigMapVolumeSource: name:s= items:[KeyToPath] defaultMode:n* optional:b*
VsphereVirtualDiskVolumeSource: volumePath:s! fsType:s storagePolicyName:s storagePolicyID:s
QuobyteVolumeSource: registry:s! volume:s! readOnly:b user:s group:s tenant:s
AzureDiskVolumeSource: diskName:s! diskURI:s! cachingMode:s*=ReadWrite fsType:s*=ext4 readOnly:b* kind:s*=Shared
PhotonPersistentDiskVolumeSource: pdID:s! fsType:s
ProjectedVolumeSource: sources:[VolumeProjection]! defaultMode:n*
VolumeProjection: secret:SecretProjection* downwardAPI:DownwardAPIProjection* configMap:ConfigMapProjection*
    serviceAccountToken:ServiceAccountTokenProjection* clusterTrustBundle:ClusterTrustBundleProjection*
    podCertificate:PodCertificateProjection*
SecretProjection: name:s= items:[KeyToPath] optional:b*
DownwardAPIProjection: items:[DownwardAPIVolumeFile]
ConfigMapProjection: name:s= items:[KeyToPath] optional:b*
ServiceAccountTokenProjection: audience:s expirationSeconds:l* path:s!
ClusterTrustBundleProjection: name:s* signerName:s* labelSelector:LabelSelector* optional:b* path:s!
LabelSelector@atomic: matchLabels:{s} matchExpressions:[LabelSelectorRequirement]
LabelSelectorRequirement: key:s! operator:s! values:[s]
PodCertificateProjection: signerName:s keyType:s maxExpirationSeconds:n* credentialBundlePath:s keyPath:s
    certificateChainPath:s userAnnotations:{s}
PortworxVolumeSource: volumeID:s! fsType:s readOnly:b
ScaleIOVolumeSource: gateway:s! system:s! secretRef:LocalObjectReference*! sslEnabled:b protectionDomain:s
    storagePool:s storageMode:s=ThinProvisioned volumeName:s fsType:s=xfs readOnly:b
StorageOSVolumeSource: volumeName:s volumeNamespace:s fsType:s readOnly:b secretRef:LocalObjectReference*
CSIVolumeSource: driver:s! readOnly:b* fsType:s* volumeAttributes:{s} nodePublishSecretRef:LocalObjectReference*
EphemeralVolumeSource: volumeClaimTemplate:PersistentVolumeClaimTemplate*
PersistentVolumeClaimTemplate: metadata:ObjectMeta! spec:PersistentVolumeClaimSpec!
PersistentVolumeClaimSpec: accessModes:[s] selector:LabelSelector* resources:VolumeResourceRequirements! volumeName:s
    storageClassName:s* volumeMode:s* dataSource:TypedLocalObjectReference* dataSourceRef:TypedObjectReference*
    volumeAttributesClassName:s*
VolumeResourceRequirements: limits:{q} requests:{q}
TypedLocalObjectReference@atomic: apiGroup:s*! kind:s! name:s!
TypedObjectReference: apiGroup:s*! kind:s! name:s! namespace:s*
ImageVolumeSource: reference:s pullPolicy:s
Container: name:s! image:s command:[s] args:[s] workingDir:s
    ports:[ContainerPort]containerPort+protocol~merge/containerPort envFrom:[EnvFromSource]
    env:[EnvVar]name~merge/name resources:ResourceRequirements! resizePolicy:[ContainerResizePolicy] restartPolicy:s*
    restartPolicyRules:[ContainerRestartRule] volumeMounts:[VolumeMount]mountPath~merge/mountPath
    volumeDevices:[VolumeDevice]devicePath~merge/devicePath livenessProbe:Probe* readinessProbe:Probe*
    startupProbe:Probe* lifecycle:Lifecycle* terminationMessagePath:s terminationMessagePolicy:s imagePullPolicy:s
    securityContext:SecurityContext* stdin:b stdinOnce:b tty:b
ContainerPort: name:s hostPort:n containerPort:n! protocol:s=TCP hostIP:s
EnvFromSource: prefix:s configMapRef:ConfigMapEnvSource* secretRef:SecretEnvSource*
ConfigMapEnvSource: name:s= optional:b*
SecretEnvSource: name:s= optional:b*
EnvVar: name:s! value:s valueFrom:EnvVarSource*
EnvVarSource: fieldRef:ObjectFieldSelector* resourceFieldRef:ResourceFieldSelector*
    configMapKeyRef:ConfigMapKeySelector* secretKeyRef:SecretKeySelector* fileKeyRef:FileKeySelector*
ConfigMapKeySelector@atomic: name:s= key:s! optional:b*
SecretKeySelector@atomic: name:s= key:s! optional:b*
FileKeySelector@atomic: volumeName:s! path:s! key:s! optional:b*
ResourceRequirements: limits:{q} requests:{q} claims:[ResourceClaim]name
ResourceClaim: name:s! request:s
ContainerResizePolicy: resourceName:s! restartPolicy:s!
ContainerRestartRule: action:s exitCodes:ContainerRestartRuleOnExitCodes*
ContainerRestartRuleOnExitCodes: operator:s values:[n]set
VolumeMount: name:s! readOnly:b recursiveReadOnly:s* mountPath:s! subPath:s mountPropagation:s* subPathExpr:s
VolumeDevice: name:s! devicePath:s!
Probe: exec:ExecAction* httpGet:HTTPGetAction* tcpSocket:TCPSocketAction* grpc:GRPCAction* initialDelaySeconds:n
    timeoutSeconds:n periodSeconds:n successThreshold:n failureThreshold:n terminationGracePeriodSeconds:l*
ExecAction: command:[s]
HTTPGetAction: path:s port:i! host:s scheme:s httpHeaders:[HTTPHeader]
HTTPHeader: name:s! value:s!
TCPSocketAction: port:i! host:s
GRPCAction: port:n! service:s*!=
Lifecycle: postStart:LifecycleHandler* preStop:LifecycleHandler* stopSignal:s*
LifecycleHandler: exec:ExecAction* httpGet:HTTPGetAction* tcpSocket:TCPSocketAction* sleep:SleepAction*
SleepAction: seconds:l!
SecurityContext: capabilities:Capabilities* privileged:b* seLinuxOptions:SELinuxOptions*
    windowsOptions:WindowsSecurityContextOptions* runAsUser:l* runAsGroup:l* runAsNonRoot:b* readOnlyRootFilesystem:b*
    allowPrivilegeEscalation:b* procMount:s* seccompProfile:SeccompProfile* appArmorProfile:AppArmorProfile*
Capabilities: add:[s] drop:[s]
SELinuxOptions: user:s role:s type:s level:s
WindowsSecurityContextOptions: gmsaCredentialSpecName:s* gmsaCredentialSpec:s* runAsUserName:s* hostProcess:b*
SeccompProfile: type:s! localhostProfile:s*
AppArmorProfile: type:s! localhostProfile:s*
EphemeralContainer: name:s! image:s command:[s] args:[s] workingDir:s
    ports:[ContainerPort]containerPort+protocol~merge/containerPort envFrom:[EnvFromSource]
    env:[EnvVar]name~merge/name resources:ResourceRequirements! resizePolicy:[ContainerResizePolicy] restartPolicy:s*
    restartPolicyRules:[ContainerRestartRule] volumeMounts:[VolumeMount]mountPath~merge/mountPath
    volumeDevices:[VolumeDevice]devicePath~merge/devicePath livenessProbe:Probe* readinessProbe:Probe*
    startupProbe:Probe* lifecycle:Lifecycle* terminationMessagePath:s terminationMessagePolicy:s imagePullPolicy:s
    securityContext:SecurityContext* stdin:b stdinOnce:b tty:b targetContainerName:s
PodSecurityContext: seLinuxOptions:SELinuxOptions* windowsOptions:WindowsSecurityContextOptions* runAsUser:l*
    runAsGroup:l* runAsNonRoot:b* supplementalGroups:[l] supplementalGroupsPolicy:s* fsGroup:l* sysctls:[Sysctl]
    fsGroupChangePolicy:s* seccompProfile:SeccompProfile* appArmorProfile:AppArmorProfile* seLinuxChangePolicy:s*
Sysctl: name:s! value:s!
Affinity: nodeAffinity:NodeAffinity* podAffinity:PodAffinity* podAntiAffinity:PodAntiAffinity*
NodeAffinity: requiredDuringSchedulingIgnoredDuringExecution:NodeSelector*
    preferredDuringSchedulingIgnoredDuringExecution:[PreferredSchedulingTerm]
NodeSelector@atomic: nodeSelectorTerms:[NodeSelectorTerm]!
NodeSelectorTerm@atomic: matchExpressions:[NodeSelectorRequirement] matchFields:[NodeSelectorRequirement]
NodeSelectorRequirement: key:s! operator:s! values:[s]
PreferredSchedulingTerm: weight:n! preference:NodeSelectorTerm!
PodAffinity: requiredDuringSchedulingIgnoredDuringExecution:[PodAffinityTerm]
    preferredDuringSchedulingIgnoredDuringExecution:[WeightedPodAffinityTerm]
PodAffinityTerm: labelSelector:LabelSelector* namespaces:[s] topologyKey:s! namespaceSelector:LabelSelector*
    matchLabelKeys:[s] mismatchLabelKeys:[s]
WeightedPodAffinityTerm: weight:n! podAffinityTerm:PodAffinityTerm!
PodAntiAffinity: requiredDuringSchedulingIgnoredDuringExecution:[PodAffinityTerm]
    preferredDuringSchedulingIgnoredDuringExecution:[WeightedPodAffinityTerm]
Toleration: key:s operator:s value:s effect:s tolerationSeconds:l*
HostAlias: ip:s! hostnames:[s]
PodDNSConfig: nameservers:[s] searches:[s] options:[PodDNSConfigOption]
PodDNSConfigOption: name:s value:s*
PodReadinessGate: conditionType:s!
TopologySpreadConstraint: maxSkew:n! topologyKey:s! whenUnsatisfiable:s! labelSelector:LabelSelector* minDomains:n*
    nodeAffinityPolicy:s* nodeTaintsPolicy:s* matchLabelKeys:[s]
PodOS: name:s!
PodSchedulingGate: name:s!
PodResourceClaim: name:s! resourceClaimName:s* resourceClaimTemplateName:s*
PodSchedulingGroup: podGroupName:s*
PodStatus: observedGeneration:l phase:s conditions:[PodCondition]type~merge/type message:s reason:s
    nominatedNodeName:s hostIP:s hostIPs:[HostIP]~merge/ip podIP:s podIPs:[PodIP]ip~merge/ip startTime:t*
    initContainerStatuses:[ContainerStatus] containerStatuses:[ContainerStatus] qosClass:s
    ephemeralContainerStatuses:[ContainerStatus] resize:s
    resourceClaimStatuses:[PodResourceClaimStatus]name~merge+retainKeys/name
    extendedResourceClaimStatus:PodExtendedResourceClaimStatus* allocatedResources:{q} resources:ResourceRequirements*
    nodeAllocatableResourceClaimStatuses:[NodeAllocatableResourceClaimStatus]
PodCondition: type:s! observedGeneration:l status:s! lastProbeTime:t! lastTransitionTime:t! reason:s message:s
HostIP: ip:s!
PodIP: ip:s!
ContainerStatus: name:s! state:ContainerState! lastState:ContainerState! ready:b! restartCount:n! image:s! imageID:s!
    containerID:s started:b* allocatedResources:{q} resources:ResourceRequirements*
    volumeMounts:[VolumeMountStatus]mountPath~merge/mountPath user:ContainerUser*
    allocatedResourcesStatus:[ResourceStatus]name~merge/name stopSignal:s*
ContainerState: waiting:ContainerStateWaiting* running:ContainerStateRunning* terminated:ContainerStateTerminated*
ContainerStateWaiting: reason:s message:s
ContainerStateRunning: startedAt:t!
ContainerStateTerminated: exitCode:n! signal:n reason:s message:s startedAt:t! finishedAt:t! containerID:s
VolumeMountStatus: name:s! mountPath:s! readOnly:b recursiveReadOnly:s* volumeStatus:VolumeStatus*
VolumeStatus: image:ImageVolumeStatus*
ImageVolumeStatus: imageRef:s
ContainerUser: linux:LinuxContainerUser*
LinuxContainerUser: uid:l! gid:l! supplementalGroups:[l]
ResourceStatus: name:s! resources:[ResourceHealth]resourceID
ResourceHealth: resourceID:s! health:s message:s*
PodResourceClaimStatus: name:s! resourceClaimName:s*
PodExtendedResourceClaimStatus: requestMappings:[ContainerExtendedResourceRequest]! resourceClaimName:s!
ContainerExtendedResourceRequest: containerName:s! resourceName:s! requestName:s!
NodeAllocatableResourceClaimStatus: resourceClaimName:s! containers:[s]set resources:{q}!
`;
