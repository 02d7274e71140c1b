package shell

import (
	"path"
	"strings"
)

// imageEntry is the program that is the entry point of a well-known image, named
// by its last two parts: what stands behind the image on the command line are that program's arguments.
// Source: the images' own Dockerfiles and pages.
func imageEntry(image string) string {
	switch image {
	case "alpine/git", "bitnami/git":
		return "git"
	case "curlimages/curl", "alpine/curl":
		return "curl"
	case "bitnami/kubectl", "rancher/kubectl", "kubectl":
		return "kubectl"
	case "amazon/aws-cli", "aws-cli/aws-cli":
		return "aws"
	case "opentofu/opentofu":
		return "tofu"
	case "kaniko-project/executor":
		return "kaniko"
	case "skopeo/stable", "containers/skopeo":
		return "skopeo"
	case "flyway/flyway", "redgate/flyway":
		return "flyway"
	case "sonarsource/sonar-scanner-cli":
		return "sonar-scanner"
	case "hetznercloud/cli":
		return "hcloud"
	case "gitleaks/gitleaks", "zricethezav/gitleaks":
		return "gitleaks"
	case "hashicorp/terraform", "alpine/helm", "hashicorp/packer", "goreleaser/goreleaser", "go-containerregistry/crane", "rclone/rclone", "minio/mc", "restic/restic", "liquibase/liquibase", "migrate/migrate", "digitalocean/doctl", "flyio/flyctl", "mikefarah/yq", "aquasec/trivy", "koalaman/shellcheck", "hadolint/hadolint":
		return path.Base(image)
	}
	return ""
}

// imageProgram is the program that `docker run IMAGE ARGS` starts; "" when the
// first of the arguments names it. Options cannot be a program: the image has
// one of its own then, and is most often called like it.
func imageProgram(image Word, args []Word) string {
	name, _, _ := strings.Cut(image.Text, "@")
	dir, base := path.Split(name)
	base, _, _ = strings.Cut(base, ":")
	if entry := imageEntry(path.Join(path.Base(dir), base)); entry != "" {
		return entry
	}
	if len(args) > 0 && len(args[0].Text) > 1 && args[0].Text[0] == '-' && !args[0].Dynamic {
		return base
	}
	return ""
}
