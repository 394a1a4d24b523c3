package main

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The custom kind of the benchmarks as a Go type, as code generators write it.
type widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              widgetSpec   `json:"spec,omitempty"`
	Status            widgetStatus `json:"status,omitempty"`
}

type widgetSpec struct {
	Revision int64             `json:"revision,omitempty"`
	Image    string            `json:"image,omitempty"`
	Settings map[string]string `json:"settings,omitempty"`
	Members  []widgetMember    `json:"members,omitempty"`
}

type widgetMember struct {
	Name   string            `json:"name,omitempty"`
	Host   string            `json:"host,omitempty"`
	Port   int64             `json:"port,omitempty"`
	Ready  bool              `json:"ready,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
}

type widgetStatus struct {
	Revision int64  `json:"revision,omitempty"`
	Phase    string `json:"phase,omitempty"`
}

type widgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []widget `json:"items"`
}

func (w *widget) copyInto(copied *widget) {
	*copied = *w
	w.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	copied.Spec.Settings = maps.Clone(w.Spec.Settings)
	copied.Spec.Members = make([]widgetMember, len(w.Spec.Members))
	for i, member := range w.Spec.Members {
		member.Labels = maps.Clone(member.Labels)
		copied.Spec.Members[i] = member
	}
}

func (w *widget) DeepCopyObject() runtime.Object {
	copied := new(widget)
	w.copyInto(copied)
	return copied
}

func (l *widgetList) DeepCopyObject() runtime.Object {
	copied := &widgetList{TypeMeta: l.TypeMeta, Items: make([]widget, len(l.Items))}
	l.ListMeta.DeepCopyInto(&copied.ListMeta)
	for i := range l.Items {
		l.Items[i].copyInto(&copied.Items[i])
	}
	return copied
}

func widgetScheme() *runtime.Scheme {
	known := runtime.NewScheme()
	group := schema.GroupVersion{Group: "bench.reeve.dev", Version: "v1"}
	known.AddKnownTypeWithName(group.WithKind("Widget"), &widget{})
	known.AddKnownTypeWithName(group.WithKind("WidgetList"), &widgetList{})
	metav1.AddToGroupVersion(known, group)
	return known
}
