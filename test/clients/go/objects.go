package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// objects walks through everything the typed client does with one kind, in protobuf, and says what came of it.
func objects(ctx context.Context, config *rest.Config) error {
	config.ContentType = "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	pods := client.CoreV1().Pods("default")
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "made-", Labels: map[string]string{"by": "go"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	made, err := pods.Create(ctx, pod, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	stale := made.DeepCopy()
	made.Labels["step"] = "updated"
	if made, err = pods.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		return err
	}
	stale.Labels["step"] = "too late"
	_, lost := pods.Update(ctx, stale, metav1.UpdateOptions{})
	patch := []byte(`{"metadata":{"labels":{"step":"patched"}}}`)
	made, err = pods.Patch(ctx, made.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		return err
	}
	made.Status.Phase = corev1.PodRunning
	if made, err = pods.UpdateStatus(ctx, made, metav1.UpdateOptions{}); err != nil {
		return err
	}
	wanted := applycore.Pod(made.Name, "default").WithLabels(map[string]string{"step": "applied"})
	_, taken := pods.Apply(ctx, wanted, metav1.ApplyOptions{FieldManager: "applier"})
	made, err = pods.Apply(ctx, wanted, metav1.ApplyOptions{FieldManager: "applier", Force: true})
	if err != nil {
		return err
	}
	none := int64(0)
	if err = pods.Delete(ctx, made.Name, metav1.DeleteOptions{GracePeriodSeconds: &none}); err != nil {
		return err
	}
	_, gone := pods.Get(ctx, made.Name, metav1.GetOptions{})
	names, err := paged(ctx, client)
	if err != nil {
		return err
	}
	say(map[string]any{
		"lost": errors.IsConflict(lost), "taken": errors.IsConflict(taken), "gone": errors.IsNotFound(gone),
		"step": made.Labels["step"], "phase": made.Status.Phase, "pages": names,
	})
	return nil
}

// paged makes seven objects, lists them three at a time, and deletes them as a collection.
func paged(ctx context.Context, client kubernetes.Interface) ([]int, error) {
	secrets := client.CoreV1().Secrets("default")
	for i := range 7 {
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("paged-%d", i), Labels: map[string]string{"by": "go"}},
			StringData: map[string]string{"i": fmt.Sprint(i)},
		}
		if _, err := secrets.Create(ctx, secret, metav1.CreateOptions{}); err != nil {
			return nil, err
		}
	}
	var sizes []int
	options := metav1.ListOptions{LabelSelector: "by=go", Limit: 3}
	for {
		page, err := secrets.List(ctx, options)
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, len(page.Items))
		if options.Continue = page.Continue; options.Continue == "" {
			break
		}
	}
	all := metav1.ListOptions{LabelSelector: "by=go"}
	if err := secrets.DeleteCollection(ctx, metav1.DeleteOptions{}, all); err != nil {
		return nil, err
	}
	left, err := secrets.List(ctx, all)
	if err != nil {
		return nil, err
	}
	return append(sizes, len(left.Items)), nil
}
