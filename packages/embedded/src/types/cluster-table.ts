/** Kinds that describe the cluster and its rules, and a few more workloads; what they share is in the other tables. */
export const clusterTable = `
DaemonSet: kind:s apiVersion:s metadata:ObjectMeta! spec:DaemonSetSpec! status:DaemonSetStatus!
DaemonSetSpec: selector:LabelSelector*! template:PodTemplateSpec! updateStrategy:DaemonSetUpdateStrategy!
    minReadySeconds:n revisionHistoryLimit:n*
DaemonSetUpdateStrategy: type:s rollingUpdate:RollingUpdateDaemonSet*
RollingUpdateDaemonSet: maxUnavailable:i* maxSurge:i*
DaemonSetStatus: currentNumberScheduled:n! numberMisscheduled:n! desiredNumberScheduled:n! numberReady:n!
    observedGeneration:l updatedNumberScheduled:n numberAvailable:n numberUnavailable:n collisionCount:n*
    conditions:[DaemonSetCondition]type~merge/type
DaemonSetCondition: type:s! status:s! lastTransitionTime:t! reason:s message:s
CronJob: kind:s apiVersion:s metadata:ObjectMeta! spec:CronJobSpec! status:CronJobStatus!
CronJobSpec: schedule:s! timeZone:s* startingDeadlineSeconds:l* concurrencyPolicy:s suspend:b*
    jobTemplate:JobTemplateSpec! successfulJobsHistoryLimit:n* failedJobsHistoryLimit:n*
JobTemplateSpec: metadata:ObjectMeta! spec:JobSpec!
CronJobStatus: active:[ObjectReference] lastScheduleTime:t* lastSuccessfulTime:t*
PersistentVolume: kind:s apiVersion:s metadata:ObjectMeta! spec:PersistentVolumeSpec! status:PersistentVolumeStatus!
PersistentVolumeSpec: capacity:{q} gcePersistentDisk:GCEPersistentDiskVolumeSource*
    awsElasticBlockStore:AWSElasticBlockStoreVolumeSource* hostPath:HostPathVolumeSource*
    glusterfs:GlusterfsPersistentVolumeSource* nfs:NFSVolumeSource* rbd:RBDPersistentVolumeSource*
    iscsi:ISCSIPersistentVolumeSource* cinder:CinderPersistentVolumeSource* cephfs:CephFSPersistentVolumeSource*
    fc:FCVolumeSource* flocker:FlockerVolumeSource* flexVolume:FlexPersistentVolumeSource*
    azureFile:AzureFilePersistentVolumeSource* vsphereVolume:VsphereVirtualDiskVolumeSource*
    quobyte:QuobyteVolumeSource* azureDisk:AzureDiskVolumeSource*
    photonPersistentDisk:PhotonPersistentDiskVolumeSource* portworxVolume:PortworxVolumeSource*
    scaleIO:ScaleIOPersistentVolumeSource* local:LocalVolumeSource* storageos:StorageOSPersistentVolumeSource*
    csi:CSIPersistentVolumeSource* accessModes:[s] claimRef:ObjectReference@granular* persistentVolumeReclaimPolicy:s
    storageClassName:s mountOptions:[s] volumeMode:s* nodeAffinity:VolumeNodeAffinity* volumeAttributesClassName:s*
GlusterfsPersistentVolumeSource: endpoints:s! path:s! readOnly:b endpointsNamespace:s*
RBDPersistentVolumeSource: monitors:[s]! image:s! fsType:s pool:s=rbd user:s=admin keyring:s=/etc/ceph/keyring
    secretRef:SecretReference* readOnly:b
SecretReference@atomic: name:s namespace:s
ISCSIPersistentVolumeSource: targetPortal:s! iqn:s! lun:n! iscsiInterface:s=default fsType:s readOnly:b portals:[s]
    chapAuthDiscovery:b chapAuthSession:b secretRef:SecretReference* initiatorName:s*
CinderPersistentVolumeSource: volumeID:s! fsType:s readOnly:b secretRef:SecretReference*
CephFSPersistentVolumeSource: monitors:[s]! path:s user:s secretFile:s secretRef:SecretReference* readOnly:b
FlexPersistentVolumeSource: driver:s! fsType:s secretRef:SecretReference* readOnly:b options:{s}
AzureFilePersistentVolumeSource: secretName:s! shareName:s! readOnly:b secretNamespace:s*!
ScaleIOPersistentVolumeSource: gateway:s! system:s! secretRef:SecretReference*! sslEnabled:b protectionDomain:s
    storagePool:s storageMode:s=ThinProvisioned volumeName:s fsType:s=xfs readOnly:b
LocalVolumeSource: path:s! fsType:s*
StorageOSPersistentVolumeSource: volumeName:s volumeNamespace:s fsType:s readOnly:b secretRef:ObjectReference*
CSIPersistentVolumeSource: driver:s! volumeHandle:s! readOnly:b fsType:s volumeAttributes:{s}
    controllerPublishSecretRef:SecretReference* nodeStageSecretRef:SecretReference*
    nodePublishSecretRef:SecretReference* controllerExpandSecretRef:SecretReference*
    nodeExpandSecretRef:SecretReference*
VolumeNodeAffinity: required:NodeSelector*
PersistentVolumeStatus: phase:s message:s reason:s lastPhaseTransitionTime:t*
EndpointSlice: kind:s apiVersion:s metadata:ObjectMeta! addressType:s! endpoints:[Endpoint]! ports:[SlicePort]!
Endpoint: addresses:[s]set! conditions:EndpointConditions! hostname:s* targetRef:ObjectReference*
    deprecatedTopology:{s} nodeName:s* zone:s* hints:EndpointHints*
EndpointConditions: ready:b* serving:b* terminating:b*
EndpointHints: forZones:[ForZone] forNodes:[ForNode]
ForZone: name:s!
ForNode: name:s!
SlicePort@atomic: name:s* protocol:s* port:n* appProtocol:s*
PriorityClass: kind:s apiVersion:s metadata:ObjectMeta! value:n! globalDefault:b description:s preemptionPolicy:s*
StorageClass: kind:s apiVersion:s metadata:ObjectMeta! provisioner:s! parameters:{s} reclaimPolicy:s* mountOptions:[s]
    allowVolumeExpansion:b* volumeBindingMode:s* allowedTopologies:[TopologySelectorTerm]
TopologySelectorTerm@atomic: matchLabelExpressions:[TopologySelectorLabelRequirement]
TopologySelectorLabelRequirement: key:s! values:[s]!
ValidatingAdmissionPolicy: kind:s apiVersion:s metadata:ObjectMeta! spec:ValidatingAdmissionPolicySpec!
    status:ValidatingAdmissionPolicyStatus!
ValidatingAdmissionPolicySpec: paramKind:ParamKind* matchConstraints:MatchResources* validations:[Validation]
    failurePolicy:s* auditAnnotations:[AuditAnnotation] matchConditions:[MatchCondition]name~merge/name
    variables:[Variable]name~merge/name
ParamKind@atomic: apiVersion:s kind:s
MatchResources@atomic: namespaceSelector:LabelSelector* objectSelector:LabelSelector*
    resourceRules:[NamedRuleWithOperations] excludeResourceRules:[NamedRuleWithOperations] matchPolicy:s*
NamedRuleWithOperations@atomic: resourceNames:[s] operations:[s] apiGroups:[s] apiVersions:[s] resources:[s] scope:s*
Validation: expression:s! message:s reason:s* messageExpression:s
AuditAnnotation: key:s! valueExpression:s!
MatchCondition: name:s! expression:s!
Variable@atomic: name:s! expression:s!
ValidatingAdmissionPolicyStatus: observedGeneration:l typeChecking:TypeChecking* conditions:[Condition]type
TypeChecking: expressionWarnings:[ExpressionWarning]
ExpressionWarning: fieldRef:s! warning:s!
ValidatingAdmissionPolicyBinding: kind:s apiVersion:s metadata:ObjectMeta! spec:ValidatingAdmissionPolicyBindingSpec!
ValidatingAdmissionPolicyBindingSpec: policyName:s paramRef:ParamRef* matchResources:MatchResources*
    validationActions:[s]set
ParamRef@atomic: name:s namespace:s selector:LabelSelector* parameterNotFoundAction:s*
CustomResourceDefinition: kind:s apiVersion:s metadata:ObjectMeta! spec:CustomResourceDefinitionSpec!
    status:CustomResourceDefinitionStatus!
CustomResourceDefinitionSpec: group:s! names:CustomResourceDefinitionNames! scope:s!
    versions:[CustomResourceDefinitionVersion]! conversion:CustomResourceConversion* preserveUnknownFields:b
CustomResourceDefinitionNames: plural:s! singular:s shortNames:[s] kind:s! listKind:s categories:[s]
CustomResourceDefinitionVersion: name:s! served:b! storage:b! deprecated:b deprecationWarning:s*
    schema:CustomResourceValidation* subresources:CustomResourceSubresources*
    additionalPrinterColumns:[CustomResourceColumnDefinition] selectableFields:[SelectableField]
CustomResourceValidation: openAPIV3Schema:JSONSchemaProps*
JSONSchemaProps: id:s $schema:s $ref:s* description:s type:s format:s title:s default:d* maximum:f* exclusiveMaximum:b
    minimum:f* exclusiveMinimum:b maxLength:l* minLength:l* pattern:s maxItems:l* minItems:l* uniqueItems:b
    multipleOf:f* enum:[d] maxProperties:l* minProperties:l* required:[s] items:d* allOf:[JSONSchemaProps]
    oneOf:[JSONSchemaProps] anyOf:[JSONSchemaProps] not:JSONSchemaProps* properties:{JSONSchemaProps}
    additionalProperties:d* patternProperties:{JSONSchemaProps} dependencies:{d} additionalItems:d*
    definitions:{JSONSchemaProps} externalDocs:ExternalDocumentation* example:d* nullable:b
    x-kubernetes-preserve-unknown-fields:b* x-kubernetes-embedded-resource:b x-kubernetes-int-or-string:b
    x-kubernetes-list-map-keys:[s] x-kubernetes-list-type:s* x-kubernetes-map-type:s*
    x-kubernetes-validations:[ValidationRule]rule~merge/rule
ExternalDocumentation: description:s url:s
ValidationRule: rule:s! message:s messageExpression:s reason:s* fieldPath:s optionalOldSelf:b*
CustomResourceSubresources: status:CustomResourceSubresourceStatus* scale:CustomResourceSubresourceScale*
CustomResourceSubresourceStatus:
CustomResourceSubresourceScale: specReplicasPath:s! statusReplicasPath:s! labelSelectorPath:s*
CustomResourceColumnDefinition: name:s! type:s! format:s description:s priority:n jsonPath:s!
SelectableField: jsonPath:s!
CustomResourceConversion: strategy:s! webhook:WebhookConversion*
WebhookConversion: clientConfig:WebhookClientConfig* conversionReviewVersions:[s]!
WebhookClientConfig: url:s* service:ConversionServiceReference* caBundle:s
ConversionServiceReference: namespace:s! name:s! path:s* port:n*
CustomResourceDefinitionStatus: conditions:[CustomResourceDefinitionCondition]type!
    acceptedNames:CustomResourceDefinitionNames! storedVersions:[s]! observedGeneration:l
CustomResourceDefinitionCondition: type:s! status:s! lastTransitionTime:t! reason:s message:s observedGeneration:l
`;
