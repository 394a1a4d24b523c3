/** ValidatingAdmissionPolicy and its binding (admissionregistration.k8s.io/v1), as they are written. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

export interface ResourceRule {
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly operations?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly scope?: string;
}

export interface MatchResources {
  readonly resourceRules?: readonly ResourceRule[];
  readonly excludeResourceRules?: readonly ResourceRule[];
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  /** Default Equivalent: also when the object was sent in another version. */
  readonly matchPolicy?: string;
}

export interface NamedExpression {
  readonly name: string;
  readonly expression: string;
}

export interface Validation {
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
}

export interface ParamKind {
  readonly apiVersion: string;
  readonly kind: string;
}

export interface ValidatingAdmissionPolicy {
  readonly metadata: { readonly name?: string };
  readonly spec: {
    readonly paramKind?: ParamKind;
    readonly matchConstraints?: MatchResources;
    readonly matchConditions?: readonly NamedExpression[];
    readonly variables?: readonly NamedExpression[];
    readonly validations?: readonly Validation[];
    /** For audit logs, which we do not have: read over. */
    readonly auditAnnotations?: readonly unknown[];
    /** Default Fail. */
    readonly failurePolicy?: string;
  };
}

export interface ParamRef {
  readonly name?: string;
  readonly namespace?: string;
  readonly selector?: LabelSelector;
  readonly parameterNotFoundAction?: string;
}

export interface ValidatingAdmissionPolicyBinding {
  readonly metadata: { readonly name?: string };
  readonly spec: {
    readonly policyName?: string;
    readonly paramRef?: ParamRef;
    readonly matchResources?: MatchResources;
    readonly validationActions?: readonly string[];
  };
}
