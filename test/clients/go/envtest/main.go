// A test suite of a controller as kubebuilder makes them, without its framework: envtest starts what is in KUBEBUILDER_ASSETS,
// defines a kind and gives a client. What came of it is one line. Arguments choose controllers of the server, if any.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

type outcome struct {
	Teeth          string `json:"teeth"`
	Accounts       int    `json:"accounts"`
	StrangerMayNot bool   `json:"strangerMayNot"`
	NamespaceGoes  bool   `json:"namespaceGoes"`
}

func main() {
	environment := &envtest.Environment{CRDs: []*apiextensions.CustomResourceDefinition{gears()}}
	if controllers := os.Args[1:]; len(controllers) > 0 {
		environment.ControlPlane.GetAPIServer().Configure().Set("controllers", controllers...)
	}
	config, err := environment.Start()
	if err == nil {
		var came *outcome
		if came, err = walk(context.Background(), environment, config); err == nil {
			line, _ := json.Marshal(came)
			fmt.Println(string(line))
		}
	}
	if stopped := environment.Stop(); err == nil {
		err = stopped
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func walk(ctx context.Context, environment *envtest.Environment, config *rest.Config) (*outcome, error) {
	admin, err := client.New(config, client.Options{})
	if err != nil {
		return nil, err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "suite"}}
	if err := admin.Create(ctx, namespace); err != nil {
		return nil, err
	}
	gear := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "go.example.com/v1", "kind": "Gear",
		"metadata": map[string]any{"name": "g", "namespace": "suite"},
		"spec":     map[string]any{"teeth": "12"},
	}}
	if err := admin.Create(ctx, gear); err != nil {
		return nil, err
	}
	if err := admin.Get(ctx, client.ObjectKeyFromObject(gear), gear); err != nil {
		return nil, err
	}
	teeth, _, _ := unstructured.NestedString(gear.Object, "spec", "teeth")
	accounts := &corev1.ServiceAccountList{}
	if err := admin.List(ctx, accounts); err != nil {
		return nil, err
	}
	refused, err := strangerIsRefused(ctx, environment, config)
	if err != nil {
		return nil, err
	}
	goes, err := goesAway(ctx, admin, namespace)
	if err != nil {
		return nil, err
	}
	return &outcome{teeth, len(accounts.Items), refused, goes}, nil
}

// strangerIsRefused asks as a user with a certificate of envtest's own authority and no rights.
func strangerIsRefused(ctx context.Context, environment *envtest.Environment, config *rest.Config) (bool, error) {
	user, err := environment.AddUser(envtest.User{Name: "stranger"}, rest.CopyConfig(config))
	if err != nil {
		return false, err
	}
	stranger, err := client.New(user.Config(), client.Options{})
	if err != nil {
		return false, err
	}
	return errors.IsForbidden(stranger.List(ctx, &corev1.SecretList{})), nil
}

// goesAway deletes an object and says whether it is gone after a while.
func goesAway(ctx context.Context, admin client.Client, object client.Object) (bool, error) {
	if err := admin.Delete(ctx, object); err != nil {
		return false, err
	}
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 2*time.Second, true, func(ctx context.Context) (bool, error) {
		err := admin.Get(ctx, client.ObjectKeyFromObject(object), object)
		return errors.IsNotFound(err), client.IgnoreNotFound(err)
	})
	return err == nil, nil
}

func gears() *apiextensions.CustomResourceDefinition {
	keep := true
	schema := &apiextensions.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &keep}
	return &apiextensions.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "gears.go.example.com"},
		Spec: apiextensions.CustomResourceDefinitionSpec{
			Group: "go.example.com",
			Scope: apiextensions.NamespaceScoped,
			Names: apiextensions.CustomResourceDefinitionNames{Plural: "gears", Kind: "Gear"},
			Versions: []apiextensions.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensions.CustomResourceValidation{OpenAPIV3Schema: schema},
			}},
		},
	}
}
