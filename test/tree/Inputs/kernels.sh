# Configures with a generator, builds, runs, changes what kernels are made of and builds again: kernels.sh FOLDER GENERATOR CONFIGURE…
set -e
folder=$1
generator=$2
shift 2
out="$folder/$generator"
build() {
    cmake --build "$out" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
    echo "$1: $(grep -c 'Compiling kernels of' "$folder/log" || true) compiled"
}
"$@" -G "$generator" -B "$out" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
build first
"$out/ahead"
"$out/two"
build again
sleep 1
sed -i 's/2\.0/7.0/' "$folder/source/helper.tk"
build "the helper"
"$out/two"
sleep 1
touch "$folder/moved/bin/tkc"
build "the command"
grep -o "\.target sm_90" "$out/tkc_ptx/filled.ptx"
sed "s#$out/##g; s/;/ /g" "$out/results"
sed -i 's/7\.0/2.0/' "$folder/source/helper.tk"
