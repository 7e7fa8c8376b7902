# Writes OUT: a table of FILES' names (relative to ROOT) and contents, for platform/embedded.hpp.
set(text "#include \"platform/embedded.hpp\"\nnamespace vp {\nconst EmbeddedFile kEmbeddedFiles[] = {\n")
foreach(file ${FILES})
  file(READ ${file} content)
  file(RELATIVE_PATH name ${ROOT} ${file})
  string(APPEND text "{\"${name}\", R\"EMBED(${content})EMBED\"},\n")
endforeach()
string(APPEND text "};\nconst unsigned kEmbeddedFileCount = sizeof kEmbeddedFiles / sizeof kEmbeddedFiles[0];\n}\n")
file(WRITE ${OUT} "${text}")
