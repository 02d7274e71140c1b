package policy

import "testing"

// TestCloudCmdlet: the verb changes something, and the noun is a service's.
func TestCloudCmdlet(t *testing.T) {
	for name, want := range map[string]bool{
		"Remove-AzVM": true, "new-mgteamchannelmessage": true, "Stop-EC2Instance": true, "Set-ADUser": true,
		"Get-AzVM": false, "Set-AzContext": false, "New-Item": false, "Set-Secret": false, "Import-Csv": false, "azcopy": false,
	} {
		if got := cloudCmdlet(name); got != want {
			t.Errorf("cloudCmdlet(%q) = %v", name, got)
		}
	}
}
