#!/bin/sh
# Makes the two font files of the page from the package @fontsource-variable/figtree (SIL Open Font Licence, LICENSE).
# Needs npm and a Python with fonttools and brotli (pip install fonttools brotli). Run it in this folder.
set -eu
version=5.3.0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm pack --silent --pack-destination "$folder" "@fontsource-variable/figtree@$version" >/dev/null
tar -xzf "$folder"/*.tgz -C "$folder"
for part in latin latin-ext; do
  # The page uses the weights from 400 to 700.
  python3 -m fontTools.varLib.instancer --quiet "$folder/package/files/figtree-$part-wght-normal.woff2" wght=400:700 -o "$folder/$part.ttf"
  # Tabular figures for tables and clocks; no other features are used.
  python3 -m fontTools.subset "$folder/$part.ttf" --unicodes='*' --layout-features=ccmp,locl,kern,mark,mkmk,tnum,rvrn --no-hinting --desubroutinize --flavor=woff2 --output-file="figtree-$part.woff2"
done
cp "$folder/package/LICENSE" LICENSE
