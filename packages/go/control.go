package binnacle

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"net/http"
)

// address is the line that a test server prints.
type address struct {
	Control              string `json:"control"`
	ControlToken         string `json:"controlToken"`
	CertificateAuthority string `json:"certificateAuthority"`
}

// control calls the control API of a test server.
type control struct {
	address address
	client  *http.Client
}

func newControl(address address) (*control, error) {
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM([]byte(address.CertificateAuthority)) {
		return nil, errors.New("the test server printed no certificate authority")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authorities}}
	return &control{address: address, client: &http.Client{Transport: transport}}, nil
}

func (c *control) call(method, path string, body, result any) error {
	var sent bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&sent).Encode(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequest(method, c.address.Control+path, &sent)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+c.address.ControlToken)
	response, err := c.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		var refused struct {
			Error string `json:"error"`
		}
		if err = json.NewDecoder(response.Body).Decode(&refused); err != nil {
			return err
		}
		return errors.New(refused.Error)
	}
	if result == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(result)
}
