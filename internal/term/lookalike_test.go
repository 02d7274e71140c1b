package term

import "testing"

func TestLookalikes(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"ascii", "git push origin main", "git push origin main"},
		{"cyrillic in an ascii word", "curl https://x.io/p\u0430ypal", `curl https://x.io/p\u0430ypal`},
		{"whole word of look-alikes", "ssh \u0441\u043e\u0440\u0443", `ssh \u0441\u043e\u0440\u0443`},
		{"greek omicron", "npm publish g\u03bfogle", `npm publish g\u03bfogle`},
		{"honest russian", "git commit -m 'правка с тестом о сору'", "git commit -m 'правка с тестом о сору'"},
		{"mixed word in russian text", "echo правка g\u0456thub", `echo правка g\u0456thub`},
		{"accents", "git commit -m 'größe café naïve kapı'", "git commit -m 'größe café naïve kapı'"},
		{"japanese beside ascii", "git commit -m 'Reactのフック'", "git commit -m 'Reactのフック'"},
		{"fullwidth", "ｇｉｔ push", `\uff47\uff49\uff54 push`},
		{"mathematical", "\U0001d420it push", `\U0001d420it push`},
		{"false slash", "curl github.com\u2215evil", `curl github.com\u2215evil`},
		{"false full stop", "curl github\u3002com", `curl github\u3002com`},
		{"full stop in Chinese text", "echo 完成。好", "echo 完成。好"},
		{"host", "curl https://b\u00fccher.example/größe", `curl https://b\u00fccher.example/größe`},
		{"dotless i in a host", "git push https://g\u0131thub.com/x", `git push https://g\u0131thub.com/x`},
		{"invalid bytes stay", "a\xffb p\u0430y", "a\xffb p\\u0430y"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Lookalikes(tt.in); got != tt.want {
				t.Errorf("Lookalikes(%q)\n got %s\nwant %s", tt.in, got, tt.want)
			}
		})
	}
}
