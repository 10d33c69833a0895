#!/bin/sh
# `make install`: O, PREFIX and DESTDIR from the environment.
set -eu
: "${O:=build}" "${PREFIX:=/usr/local}" "${DESTDIR:=}"
root=$DESTDIR$PREFIX
install -d "$root/bin" "$root/lib" "$root/share/man/man1" "$root/share/doc/gpushim"
install -m 755 "$O/bin/gpushim" "$root/bin/gpushim"
install -m 755 "$O/lib/libgpushim.so" "$root/lib/libgpushim.so"
if [ -d "$O/lib/gpushim" ]; then
	(cd "$O/lib" && find gpushim \( -type f -o -type l \) -print) | while read -r file; do
		install -d "$root/lib/$(dirname "$file")"
		cp -P "$O/lib/$file" "$root/lib/$file"
	done
fi
install -m 644 "$O/gpushim.1" "$root/share/man/man1/gpushim.1"
for file in README.md CHANGELOG.md LICENSE formats/FORMAT.md shim/dryrun/DRYRUN.md; do
	install -m 644 "$file" "$root/share/doc/gpushim/$(basename "$file")"
done
install -d "$root/share/bash-completion/completions" "$root/share/zsh/site-functions" \
	"$root/share/fish/vendor_completions.d"
"$O/bin/gpushim" completion bash >"$root/share/bash-completion/completions/gpushim"
"$O/bin/gpushim" completion zsh >"$root/share/zsh/site-functions/_gpushim"
"$O/bin/gpushim" completion fish >"$root/share/fish/vendor_completions.d/gpushim.fish"
